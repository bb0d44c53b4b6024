"""Layer 1: files of other tools (and our own) → records, one at a time, with everything that was left out and why."""
