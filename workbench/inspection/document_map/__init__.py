"""Documents, or uses of a word, as points in a plane."""
