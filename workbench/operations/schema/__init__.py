"""Layers and labels, and their changes."""
