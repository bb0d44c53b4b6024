"""The smallest change of a text that turns a prediction."""
