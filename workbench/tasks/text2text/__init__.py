"""A text for each document, written by an encoder–decoder."""
