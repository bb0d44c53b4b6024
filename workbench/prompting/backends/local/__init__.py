"""Prompts answered by the language models on this computer."""
