"""What a decoder reads of its source while it writes."""
