"""The bottleneck adapters of a run alone, for its base model."""
