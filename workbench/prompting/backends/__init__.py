"""What answers prompts: a backend scores the candidates of finished prompts."""
