"""What each word adds to a score of a linear baseline."""
