"""Training methods: which parameters of a model are trained, and how."""
