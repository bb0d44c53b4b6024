"""Queries, searches, listings and the queue."""
