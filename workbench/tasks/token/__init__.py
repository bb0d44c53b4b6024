"""A tag for every token, such as parts of speech."""
