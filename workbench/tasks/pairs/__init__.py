"""One class per pair of texts."""
