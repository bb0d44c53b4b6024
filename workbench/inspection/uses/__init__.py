"""Uses of a word in the documents of a project, by similarity in context."""
