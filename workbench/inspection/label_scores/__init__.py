"""The probability of every label of a task with several labels per document."""
