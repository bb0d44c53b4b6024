"""English pronouns with a gender, and the choice that none of the names is meant."""

from __future__ import annotations

GENDER = "gender"  # name of the metadata
MASCULINE, FEMININE = "masculine", "feminine"
NEITHER = "neither"
_FORMS = {
    **dict.fromkeys(("he", "him", "his", "himself"), MASCULINE),
    **dict.fromkeys(("she", "her", "hers", "herself"), FEMININE),
}


def gender(pronoun: str) -> str:
    """MASCULINE or FEMININE; "" for other words."""
    return _FORMS.get(pronoun.lower(), "")
