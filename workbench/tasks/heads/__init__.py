"""Heads: states of an encoder → logits."""
