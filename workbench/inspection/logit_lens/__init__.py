"""What a language model predicts from the states of each layer."""
