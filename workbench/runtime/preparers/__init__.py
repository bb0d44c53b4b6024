"""Preparers: text → arrays in the units of an encoder, without torch."""
