"""How much each word of a text moves a score of a run."""
