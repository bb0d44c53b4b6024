"""A baseline: light half in info.py, the rest in baseline.py."""
