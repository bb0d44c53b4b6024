"""Tables of documents, runs and numbers, with their delegates."""
