"""Identifiers of licences as SPDX writes them."""

import pytest

from workbench.models.spec.licences import spdx


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("apache-2.0", "Apache-2.0"),
        ("mit", "MIT"),
        ("cc-by-nc-sa-4.0", "CC-BY-NC-SA-4.0"),
        ("bsd-3-clause", "BSD-3-Clause"),
        ("llama2", "llama2"),
        ("Gemma Terms of Use", "Gemma Terms of Use"),
        ("", ""),
    ],
)
def test_known_identifiers_are_written_as_in_the_list_of_spdx(given, expected):
    assert spdx(given) == expected
