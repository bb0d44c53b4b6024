"""Semantic roles: the arguments of marked predicates, as tags of words."""
