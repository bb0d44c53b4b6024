"""Extractive answers to questions about a text."""
