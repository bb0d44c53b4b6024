"""Import and export of data."""
