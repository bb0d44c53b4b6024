"""People who label: who they are, how far they agree, and what becomes gold."""
