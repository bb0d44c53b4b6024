"""How often words had which tag in training."""
