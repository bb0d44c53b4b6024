"""A folder with a program that predicts, for a Python with few packages."""
