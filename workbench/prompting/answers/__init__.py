"""Answer forms: how examples are answered in a prompt, and how a reply becomes a prediction."""
