"""A number per document."""
