"""The query language, and the search for words and patterns in texts."""
