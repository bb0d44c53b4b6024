"""Word segmenters: rules, characters, and libraries with dictionaries for some languages."""
