"""Rules of the knowledge graph: ontology, proposals, validation, projections, extraction and memory. Pure."""
