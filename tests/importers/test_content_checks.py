"""Warnings about valid records that cannot be meant, whatever the format."""

import pytest

from workbench.importers.content_checks import ContentChecks


def checked(found):
    """The warnings about the records of one file."""
    checks = ContentChecks()
    checks.begin("a.txt")
    for record in found.records:
        checks.record(record)
    for _skipped in found.skipped:
        checks.fault()
    return [*checks.failures(), *checks.warnings()]


@pytest.mark.parametrize("label", ["B", "I", "B-", "I_", "S-", "-", "–"])
def test_spans_with_a_bare_prefix_or_a_hyphen_as_label(read, label):
    (warning,) = checked(read(f'{{"text": "a b", "label": [[0, 1, "{label}"]]}}', "doccano"))

    assert warning == (
        f"Layer spans: the label {label!r} is a hyphen or a tag prefix without a name. Check the "
        "columns and the tag scheme."
    )


def test_a_hyphen_as_class_is_reported_and_a_single_letter_is_not(read):
    found = read("text,label\na,B\nb,-\nc,I\nd,I\n", "csv")

    assert [warning.split(" is ")[0] for warning in checked(found)] == [
        "Layer class: the label '-'"
    ]


def test_a_hyphen_among_other_punctuation_marks_is_a_tag(read):
    content = '{"tokens": ["a", "-", ","], "pos_tags": ["DT", "-", ","]}'

    assert checked(read(content, "doccano")) == []


@pytest.mark.parametrize("header", ["NE-COARSE-LIT", "label", "ner_tags"])
def test_a_header_that_became_the_first_record(read, header):
    content = (
        f'{{"text": "TOKEN", "label": [[0, 5, "{header}"]]}}\n'
        '{"text": "Rome", "label": [[0, 4, "LOC"]]}\n{"text": "Otto", "label": [[0, 4, "PER"]]}\n'
    )

    (warning,) = checked(read(content, "doccano"))

    assert f"the label '{header}' occurs in the first record only" in warning


def test_a_first_label_that_alone_is_rare_is_reported_whatever_its_name(read):
    labels = ["xyz", *["pos", "neg"] * 5]
    content = "".join(f'{{"text": "{n}", "label": "{name}"}}\n' for n, name in enumerate(labels))

    (warning,) = checked(read(content, "doccano"))

    assert "the label 'xyz' occurs in the first record only" in warning


def test_rare_labels_of_small_files_are_not_reported(read):
    assert checked(read("text,label\na,x\nb,y\nc,z\nd,y\n", "csv")) == []


def test_a_text_that_most_documents_have(read):
    found = read("text,label\nen,a\nen,b\nen,b\nde,a\n", "csv")

    (warning,) = checked(found)

    assert warning == (
        "3 of 4 documents have the same text ('en'). Check which column holds the text."
    )


def test_texts_that_occur_twice_are_not_reported(read):
    assert checked(read("text,label\nx,a\nx,b\ny,b\ny,a\n", "csv")) == []


def test_a_file_all_of_whose_records_have_errors(read):
    found = read('{"text": 1}\n{"text": 2}\n', "doccano", mapping=(("text", "text"),))

    assert checked(found) == [
        "a.txt: no record was imported, all 2 have errors. Check the format, delimiter and columns."
    ]
