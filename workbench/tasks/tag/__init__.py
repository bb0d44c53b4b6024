"""Flat spans, predicted as a BIO tag per word."""
