"""Layer 1: the project file. The only code that writes SQL; functions take the database and give frozen dataclasses."""
