"""Prompts scored by the language models on this computer."""
