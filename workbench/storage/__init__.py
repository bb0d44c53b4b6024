"""Layer 1: the project file.

The only code with SQL; functions take the database and return frozen dataclasses.
"""
