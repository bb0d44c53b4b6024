"""Indexes of the documents of a project: vectors of texts or of uses of a word, by layer."""
