"""Relations: a label, or none, for pairs of spans."""
