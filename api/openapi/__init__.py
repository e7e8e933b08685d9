"""The OpenAPI description: what the framework says of the routes, completed, lowered to 3.0.3 and committed as a file.

`python -m api.openapi` writes the file; a test says when it is old.
"""
