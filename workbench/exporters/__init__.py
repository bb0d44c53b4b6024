"""Layer 1: export of labels and predictions (`data`) and of models (`model`)."""
