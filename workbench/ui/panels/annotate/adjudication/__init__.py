"""Adjudication: what several people labelled side by side, and which of it becomes gold."""
