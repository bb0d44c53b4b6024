"""How well labels can be read from each layer of an encoder."""
