"""Preparers: text → arrays of the tokens of an encoder, without torch."""
