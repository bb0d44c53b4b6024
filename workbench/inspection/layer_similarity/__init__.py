"""How similar the layers of one or two encoders are."""
