"""How scores change where words of one group replace another's."""
