"""The event feed: what happened, found in what is kept."""
