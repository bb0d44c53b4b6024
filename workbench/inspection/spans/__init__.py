"""The spans that a run predicts."""
