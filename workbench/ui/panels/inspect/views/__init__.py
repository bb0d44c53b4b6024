"""Views of the built-in inspectors, named in the index."""
