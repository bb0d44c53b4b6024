"""Scores in detail, errors, comparisons, boards."""
