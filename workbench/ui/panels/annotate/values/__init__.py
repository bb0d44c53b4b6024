"""Numbers and written texts."""
