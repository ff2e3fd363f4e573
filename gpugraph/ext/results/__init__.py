"""Result files: what ``-o`` writes and ``gpugraph verify`` checks; a module for the results of each problem."""
