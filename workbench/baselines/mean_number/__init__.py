"""The same number for every document: the mean of training."""
