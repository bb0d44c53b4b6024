"""Training of static word vectors on text."""
