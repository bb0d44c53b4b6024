"""The version, apart from the library interface, which imports nearly everything."""

__version__ = "0.1.0"
