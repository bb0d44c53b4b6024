"""Translation Memory eXchange files as sentence pairs."""
