"""Labels, patterns, sources and the queue."""
