"""Questions about a document, and their answers in the text."""
