"""What targets count in the loss, and in a batch."""
