"""Layer 0: events, errors, paths, settings, registry. Standard library only."""
