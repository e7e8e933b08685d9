"""The OpenAPI description: derived from the routes by the framework, completed, lowered to 3.0.3 and committed.

`python -m api.openapi` writes the file; a test fails if it is outdated.
"""
