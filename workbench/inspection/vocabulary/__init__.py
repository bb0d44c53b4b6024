"""The words that a pretrained language model expects at every position."""
