"""Export of documents with their labels to formats of other tools and our own."""
