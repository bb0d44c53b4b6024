"""A bag-of-embeddings encoder over GloVe text files."""
