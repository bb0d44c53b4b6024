"""How a text falls into tokens."""
