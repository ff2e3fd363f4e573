from gpugraph.ext.csgraph import connected_components as connected_components
from gpugraph.ext.csgraph import dijkstra as dijkstra
from gpugraph.ext.csgraph import minimum_spanning_tree as minimum_spanning_tree
from gpugraph.ext.csgraph import shortest_path as shortest_path
