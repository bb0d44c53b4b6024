"""The arithmetic of one row of one attention head."""
