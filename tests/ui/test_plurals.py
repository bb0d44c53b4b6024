"""Sentences with a count have a singular form: `ngettext`, never `_`."""

import ast
import re

from tests import source

COUNTED = re.compile(r"\{(\w+)(?::[^}]*)?\} (?:[a-z]+ )?[a-z]+s\b")
# No counts: names, ids and measures before a word that ends in "s".
NO_COUNT = {
    "name",
    "key",
    "run",
    "id",
    "model",
    "share",
    "torch",
    "onnx",
    "title",
    "layer",
    "folder",
    "ms",
    "bits",
    "query",
    "rung",
    "score",
}


def sentences(path):
    """(line, text) of every literal in a call of `_` or `N_`."""
    for node in source.nodes(path):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_", "N_"):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield node.lineno, inner.value


def test_no_sentence_with_a_count_has_one_form_alone():
    texts = [
        f"{file}:{line} {text}"
        for file, path in source.of_window().items()
        for line, text in sentences(path)
        if any(item.group(1) not in NO_COUNT for item in COUNTED.finditer(text))
    ]

    assert texts == []
