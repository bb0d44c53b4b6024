"""Relations, chains and parts of spans."""
