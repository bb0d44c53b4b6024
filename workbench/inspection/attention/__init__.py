"""Attention weights of an encoder."""
