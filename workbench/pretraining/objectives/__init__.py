"""Pretraining objectives: what a model learns from text without labels."""
