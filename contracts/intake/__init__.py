"""Defines intake: the requests of three lanes, the states of an intake, and the documents about it. Pure."""
