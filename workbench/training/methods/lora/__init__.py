"""Low-rank adaptation: small matrices beside the frozen weights of a model."""
