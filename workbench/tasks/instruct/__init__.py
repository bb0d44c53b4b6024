"""An answer to each instruction, written by a causal language model."""
