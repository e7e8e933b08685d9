"""Token holders: ingests transfers, takes holder lists, proves them at a final block, and reads counts of others."""
