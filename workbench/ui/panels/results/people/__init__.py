"""People: how far they and runs agree."""
