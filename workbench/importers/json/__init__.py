"""JSON and JSON lines: our own format, and those of annotation tools and question sets."""
