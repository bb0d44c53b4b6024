"""A number per pair of texts."""
