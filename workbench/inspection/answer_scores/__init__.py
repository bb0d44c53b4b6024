"""Answers to questions, with the other ranges of the text that were considered."""
