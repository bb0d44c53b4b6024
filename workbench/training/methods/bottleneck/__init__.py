"""Bottleneck adapters: small modules inside the frozen layers of a model."""
