"""The instant model, which learns while the user labels, and its learning curve."""
