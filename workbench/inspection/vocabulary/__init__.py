"""The words that a pretrained language model predicts at every position."""
