"""Simple systems that every run can be compared with: trained in seconds, without torch."""
