"""File formats of model folders: names and shapes from headers, JSON. No weight is read."""
