"""The project file and its connections: opening, locking, identity, backup."""
