"""Prompts answered by servers with the interface of OpenAI."""
