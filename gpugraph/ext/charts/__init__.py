"""Charts as Vega-Lite: what the page shows, and what ``gpugraph plot`` writes as a figure."""
