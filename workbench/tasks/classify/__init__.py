"""One class per document."""
