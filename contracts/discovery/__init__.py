"""How the service describes itself: its health, what is switched on, and every document that agents look for."""
