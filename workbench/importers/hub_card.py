"""The card of a data set of the Hugging Face hub: a README.md with YAML before its text."""

from __future__ import annotations

import re

FRONT = re.compile(r"\ufeff?---\r?\n(.*?)\r?\n---\s*(?:\n|$)", re.S)
_OF_DATA = re.compile(r"^(?:dataset_info|configs|task_categories|task_ids|size_categories):", re.M)


def is_card(head: str) -> bool:
    """Whether a file begins as the card of a data set; cards of models have other entries."""
    front = FRONT.match(head)
    return front is not None and _OF_DATA.search(front[1]) is not None
