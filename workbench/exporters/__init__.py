"""Layer 1: labels and predictions out (`data`), models out (`model`)."""
