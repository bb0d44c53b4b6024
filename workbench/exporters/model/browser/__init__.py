"""The layout of transformers.js, and a page that runs the model offline."""
