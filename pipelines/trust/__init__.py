"""Trust: attestations counted into scores, a sample of which the registry itself confirms."""
