"""How scores change where words of one group stand in place of another's."""
