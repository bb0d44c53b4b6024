"""Classes of a document."""
