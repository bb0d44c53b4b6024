"""A tag for every token, as parts of speech are labelled."""
