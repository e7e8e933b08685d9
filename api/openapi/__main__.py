"""Writes the committed OpenAPI description."""

from api.openapi.describing import text
from contracts.discovery.openapi import OPENAPI_FILE

OPENAPI_FILE.parent.mkdir(exist_ok=True)
OPENAPI_FILE.write_text(text())
