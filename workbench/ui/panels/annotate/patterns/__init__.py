"""All occurrences of a text, and patterns that suggest labels."""
