"""A folder with a program that answers requests over HTTP, for a Python without torch."""
