"""Chains of coreferent mentions."""
