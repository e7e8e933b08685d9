"""Third-party figures about us: the partner's snapshot and the marketplace's figures."""
