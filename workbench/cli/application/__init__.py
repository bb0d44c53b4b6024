"""Projects, plugins, the check of the computer, and the window."""
