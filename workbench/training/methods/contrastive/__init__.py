"""Contrastive tuning: pairs of documents tune the encoder, then the head is trained alone."""
