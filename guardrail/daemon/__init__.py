"""The warm process that hooks query: the engine, loaded once, behind the user's own socket."""
