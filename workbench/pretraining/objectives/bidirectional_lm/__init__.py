"""Bidirectional language modelling."""
