import json


def test_each_line_that_is_not_empty_is_a_document_as_it_stands(read):
    records = read("one \n\n  two\t\r\nthree\u2028four\n", "text")

    assert records.texts == ["one ", "  two\t", "three\u2028four"] and [
        row.line for row in records.rows
    ] == [1, 3, 4]


def test_a_whole_file_is_one_document_named_after_it(read):
    records = read("One. \r\n\r\nTwo\u2028three\r\n\r\n", "text-file", name="chapter 1.txt")

    (record,) = records.records
    assert record.document.text == "One. \n\nTwo\u2028three" and record.document.key == "chapter 1"


def test_a_whole_file_with_damaged_bytes_is_skipped(read):
    records = read("größer\n".encode() * 9 + b"bad\xff\n", "text-file")

    assert not records.rows and "0xFF" in records.skipped[0][1]


def test_whole_files_are_only_read_if_that_is_chosen(read):
    assert len(read("One.\nTwo.\n", name="book.txt").records) == 2


def test_a_line_with_damaged_bytes_is_skipped(read):
    records = read("größer\n".encode() * 9 + b"bad\xff\nfine\n", "text")

    assert (
        records.texts[-1] == "fine"
        and records.skipped[0][0] == 10
        and "0xFF" in records.skipped[0][1]
    )


def test_what_is_quoted_in_a_message_is_cut(read):
    record = {"text": "a", "label": {"x": "y"}, "split": "s" * 5000}

    (reason,) = [reason for _, reason in read(json.dumps(record), "doccano").skipped]

    assert len(reason) <= 400


def test_a_label_or_key_of_endless_length_is_refused(read):
    name = "L" * 1001
    records = [
        {"text": "a", "label": [[0, 1, name]]},
        {"text": "a", "id": name},
        {"text": "a", "label": name},
    ]

    result = read("\n".join(map(json.dumps, records)), "doccano")

    assert [reason.split(",")[0] for _, reason in result.skipped] == [
        "a label is too long: 1",
        "the key is too long: 1",
        "a label is too long: 1",
    ]
