"""Projects and sessions as a whole, plugins, system check."""
