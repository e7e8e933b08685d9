"""Token holders: takes lists, proves them at a final block, and reads counts of other sources."""
