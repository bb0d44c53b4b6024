"""Tokenization of a text."""
