"""How unexpected each word of a text is to a language model."""
