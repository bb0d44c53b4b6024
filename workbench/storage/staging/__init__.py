"""Imports: the staging file and its copy into the project."""
