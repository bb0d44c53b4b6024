"""What Inspect shows of models and texts."""
