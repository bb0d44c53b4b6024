"""The kinds of runs: what each can do, and how. One folder for each."""
