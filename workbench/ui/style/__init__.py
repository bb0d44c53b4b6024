"""Theme, icons, and how numbers and texts are formatted."""
