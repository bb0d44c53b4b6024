"""The distribution over the labels at every token."""
