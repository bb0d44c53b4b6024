"""The probability of every class."""
