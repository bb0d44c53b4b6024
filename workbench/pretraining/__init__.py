"""Pretraining of language models on plain text: objectives, streamed texts, the loop."""
