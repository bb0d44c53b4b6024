"""The documents of a project: queries, splits, statistics, duplicates, removal."""
