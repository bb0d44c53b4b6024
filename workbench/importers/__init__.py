"""Layer 1: reads files of other tools (and our own) as records, one at a time, and reports skipped
records with reasons.
"""
