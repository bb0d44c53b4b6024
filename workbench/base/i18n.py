"""The one door for strings that a user reads."""


def _(text: str) -> str:
    """The text in the user's language. English is the only one so far; translations come through this call."""
    return text
