"""Prompt backends, which score the candidates of finished prompts."""
