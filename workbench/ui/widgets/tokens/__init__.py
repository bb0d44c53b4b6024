"""Strips and grids of tokens and of numbers beside them."""
