"""Runs that predict the next documents of the queue before they are opened."""
