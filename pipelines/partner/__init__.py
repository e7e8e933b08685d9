"""What others say of us: the partner's snapshot and the marketplace's figures."""
