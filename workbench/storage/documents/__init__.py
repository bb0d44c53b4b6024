"""Texts of documents, notes, flags, bulk edits and removal."""
