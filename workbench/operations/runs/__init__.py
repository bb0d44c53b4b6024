"""Runs: training data, training, predictions, results."""
