-- One row per domain of the graph: its public nodes, the edges from them, and the ledger's seq that they hold at.
select domain, node_count, edge_count, revision from out_world__counts order by domain
