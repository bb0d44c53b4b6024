"""Denoising with encoder–decoders."""
