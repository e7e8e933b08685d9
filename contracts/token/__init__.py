"""Contains the rules of the service token: holder lists, their proof and their verification. Pure."""
