"""Several continuations of a text, sampled with a seed."""
