"""Review of single errors of a run, and of doubtful gold labels."""
