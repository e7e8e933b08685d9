"""The warm process that hooks ask: the engine loaded once, behind a socket of the user's own."""
