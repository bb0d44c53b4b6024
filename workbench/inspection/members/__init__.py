"""What each run of an ensemble predicts."""
