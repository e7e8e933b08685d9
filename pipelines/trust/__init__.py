"""Trust: computes scores from attestations, and has the registry confirm a sample of them."""
