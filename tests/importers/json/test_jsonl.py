import json

import pytest

from workbench.importers.base import Fault
from workbench.importers.json import jsonl
from workbench.importers.source import Source


def values(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8", newline="")
    return list(jsonl.values(Source(path)))


def faults(found):
    return [(line, str(value)) for line, value in found if isinstance(value, Fault)]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}\n{"a": 2}\n',
        '[{"a": 1}, {"a": 2}]',
        '[\n {"a": 1},\n {"a": 2}\n]\n',
        '{\n "a": 1\n}\n{\n "a": 2\n}',
        '\n\n{"a": 1}\r\n\r\n{"a": 2}',
    ],
)
def test_lines_lists_and_objects_are_read(tmp_path, text):
    assert [value for _, value in values(tmp_path, text)] == [{"a": 1}, {"a": 2}]


def test_lines_of_a_list_are_counted(tmp_path):
    assert [line for line, _ in values(tmp_path, '[\n{"a": 1},\n\n{"a": 2}]')] == [2, 4]


def test_a_long_list_on_one_line_is_legal(tmp_path):
    result = values(tmp_path, json.dumps([{"text": "x" * 1000}] * 2000))

    assert len(result) == 2000 and {line for line, _ in result} == {1}


def test_a_broken_line_costs_that_line(tmp_path):
    result = values(tmp_path, '{"a": 1}\n{broken\n{"a": 3}\n')

    assert [line for line, _ in result] == [1, 2, 3] and faults(result)[0][0] == 2


@pytest.mark.parametrize(
    "line, word",
    [
        ('{"a": "cut', "truncated"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "nested"),
        ('{"a": 1} x', "column"),
    ],
)
def test_faults_are_reported_in_words(tmp_path, line, word):
    ((where, reason),) = faults(values(tmp_path, f'{{"ok": 1}}\n{line}\n'))

    assert where == 2 and word in reason


@pytest.mark.parametrize(
    "line",
    [
        '{"a": ":", "a" : 2}',
        '{"a": "\\":", "a"\t: 2}',
        '{"a": {"b": ":", "b": 2}}',
        '{"a": [{"b": "{", "b": ":"}]}',
        '{"a": {"a": {"b": 1, "b": 2}}}',
    ],
)
def test_a_key_that_occurs_twice_is_found_at_any_depth_and_beside_colons_in_texts(tmp_path, line):
    assert "occurs twice" in faults(values(tmp_path, f'{{"ok": 1}}\n{line}\n'))[0][1]


@pytest.mark.parametrize(
    "line", ['{"a": "at 12:30: {x}"}', '{"a": [{"b": "\\":"}], "c": {"a": 1}}']
)
def test_colons_and_braces_of_texts_are_no_keys(tmp_path, line):
    assert values(tmp_path, f'{{"ok": 1}}\n{line}\n')[1] == (2, json.loads(line))


def test_a_list_that_is_cut_off_gives_what_it_has(tmp_path):
    result = values(tmp_path, '[{"a": 1}, {"a": 2}, {"a"')

    assert [value for _, value in result[:2]] == [{"a": 1}, {"a": 2}] and "truncated" in faults(
        result
    )[0][1]


def test_a_number_of_endless_digits_is_reported_in_words(read):
    assert read('{"id": ' + "9" * 5000 + ', "text": "a"}\n', "doccano").skipped == [
        (1, "a number has more than 4,300 digits")
    ]


def test_a_comma_before_the_end_of_a_list_is_reported(read):
    records = read('[{"text": "a", "label": "x"},\n]', "doccano")

    assert records.texts == ["a"] and records.skipped == [
        (1, "there is a comma before the end of the list; the records before it were read")
    ]


def test_a_file_may_begin_with_any_amount_of_space(read):
    assert read(" " * 200_000 + '{"text": "a", "label": "x"}', name="file.jsonl").texts == ["a"]


def test_a_preview_reads_the_beginning_of_a_long_list_and_reports_no_cut_as_a_fault(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("workbench.importers.source.LOOK", 1000)
    path = tmp_path / "t.json"
    for separator in (",\n", ",", " , "):
        path.write_text("[" + separator.join('{"text": "one"}' for _n in range(400)) + "]")
        for scan in (64, 4096):
            result = [value for _line, value in jsonl.values(Source(path, scan=scan))]
            assert len(result) > 40 and set(map(str, result)) == {"{'text': 'one'}"}
    assert len(list(jsonl.values(Source(path)))) == 400


def test_a_fault_in_the_part_that_a_preview_reads_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.importers.source.LOOK", 1000)
    path = tmp_path / "t.json"
    path.write_text('[{"text": "one"}, {"text" "two"}, ' + '{"text": "x"}, ' * 400)

    result = [value for _line, value in jsonl.values(Source(path, scan=64))]

    assert len(result) == 2 and "nothing after it" in str(result[1])
