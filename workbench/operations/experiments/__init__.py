"""Experiments of several runs."""
