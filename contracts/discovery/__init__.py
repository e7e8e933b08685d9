"""The service's description of itself: health, available capabilities, and every document that agents look for."""
