"""Error review: predictions of a run beside gold."""
