"""How well the vocabulary of a model fits a text."""
