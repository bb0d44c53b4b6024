"""Layers and labels, and moving annotations between them."""
