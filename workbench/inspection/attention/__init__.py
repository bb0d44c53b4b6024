"""Where each head of an encoder attends to."""
