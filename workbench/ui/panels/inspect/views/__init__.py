"""The views of inspectors, named in the index."""
