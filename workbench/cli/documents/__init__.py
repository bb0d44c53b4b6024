"""Import, export, queries, splits and statistics of documents."""
