"""Annotations, answers, relations, values and suggestions of documents."""
