"""How a prediction changes when a word is left out."""
