"""Documents with their labels → files of other tools, and our own."""
