"""The event feed: derives events from stored rows."""
