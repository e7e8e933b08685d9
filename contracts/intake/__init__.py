"""Intake: what comes in over three lanes, the states it goes through, and the documents that tell of it. Pure."""
