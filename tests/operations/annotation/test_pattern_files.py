"""Patterns written to files and read again, and faults with their line."""

import json

import pytest

from workbench.base.errors import ImportFailed
from workbench.operations.annotation import pattern_files, patterns
from workbench.operations.schema import labels
from workbench.text.queries.patterns import REGEX, WORDS, Pattern


@pytest.fixture
def person(project):
    return labels.add_label(project, labels.add_layer(project, "names", "span"), "PER")


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_a_file_written_is_read_as_the_same_patterns(project, person, tmp_path, name):
    first = Pattern(WORDS, 'Ada, "the" Countess\nBob', person, note="people")
    second = Pattern(
        REGEX, r"M[rs]+\. \w+", person, whole_words=False, match_case=True, active=False
    )
    patterns.add(project, [first, second])
    path = tmp_path / name

    assert pattern_files.export_file(project, path) == 2
    patterns.remove(project, [pattern.id for pattern in patterns.all_patterns(project)])
    assert pattern_files.import_file(project, path) == 2

    found = patterns.all_patterns(project)
    assert [(item.kind, item.body, item.note) for item in found] == [
        (WORDS, first.body, "people"),
        (REGEX, second.body, ""),
    ]
    assert (found[1].whole_words, found[1].match_case, found[1].active) == (False, True, False)
    assert project.undo() == "Add 2 patterns" and patterns.all_patterns(project) == ()


def test_string_patterns_of_prodigy_are_accepted(project, person, tmp_path):
    path = tmp_path / "patterns.jsonl"
    path.write_text('{"label": "PER", "pattern": "Ada Lovelace"}\n\n', encoding="utf-8")

    assert pattern_files.import_file(project, path) == 1
    (found,) = patterns.all_patterns(project)
    assert (found.words, found.label_id, found.whole_words) == (("Ada Lovelace",), person, True)


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"label": "PER", "pattern": [{"lower": "ada"}]}, "token patterns are not supported"),
        ({"label": "ORG", "pattern": "x"}, r"no label 'ORG' .*it has: PER"),
        ({"label": "PER", "pattern": "(", "kind": "regex"}, "is not a regular expression"),
        ({"label": "PER", "pattern": "x", "active": "maybe"}, "active is 'maybe', not yes or no"),
        ({"pattern": "x"}, "must be texts"),
    ],
)
def test_a_fault_is_named_with_its_line_and_nothing_is_added(
    project, person, tmp_path, record, fault
):
    path = tmp_path / "patterns.jsonl"
    good = json.dumps({"label": "PER", "pattern": "Ada"})
    path.write_text(f"{good}\n{json.dumps(record)}\n", encoding="utf-8")

    with pytest.raises(ImportFailed, match=rf"patterns.jsonl, line 2: .*{fault}"):
        pattern_files.import_file(project, path)
    assert patterns.all_patterns(project) == ()
