"""Find in the text of the document."""
