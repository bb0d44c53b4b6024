"""One of several texts per document: every choice is scored with the same network."""
