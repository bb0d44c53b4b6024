"""Layer 3: the command line.

One file per group; `main.py` imports a group when one of its commands is called.
"""
