"""Next sentence prediction with masked language modelling."""
