"""Formats of bytes, not text: Arrow and Parquet, data sets of Hugging Face, spaCy's DocBin."""
