"""Texts that are alike: near-duplicates, shared n-grams, and places carried from one to another."""
