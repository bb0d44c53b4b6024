"""Gradual unfreezing: one more layer per epoch, from the top, with rates that fall downwards."""
