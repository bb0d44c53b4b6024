"""Character language models and contextual string embeddings, as in flair."""
