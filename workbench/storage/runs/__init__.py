"""Runs and prompts."""
