"""The list of runs, and the scores, settings and files of one of them."""
