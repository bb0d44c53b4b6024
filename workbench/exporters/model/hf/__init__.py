"""The format of the model's family; for transformers, a Hugging Face folder."""
