"""The documents of a project that are nearest to a text."""
