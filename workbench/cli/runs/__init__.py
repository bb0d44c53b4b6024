"""Training, prompts, predictions, scores and comparisons."""
