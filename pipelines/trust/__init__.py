"""Trust: counts attestations into scores, and has the registry confirm a sample of them."""
