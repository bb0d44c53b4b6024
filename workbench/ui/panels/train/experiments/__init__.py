"""Experiments: several runs that are compared, one page each."""
