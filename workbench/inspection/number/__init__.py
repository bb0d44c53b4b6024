"""The predicted number."""
