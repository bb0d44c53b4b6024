"""The scores of neighbouring tags that a CRF has learned."""
