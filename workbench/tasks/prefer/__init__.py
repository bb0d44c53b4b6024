"""The better of several answers to a prompt: a causal language model is tuned with DPO."""
