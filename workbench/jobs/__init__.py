"""Layer 2: background work in threads and child processes. Knows nothing of NLP; the only place that starts either."""
