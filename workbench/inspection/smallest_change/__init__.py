"""The smallest change of a text that turns its predicted class."""
