"""Offsets that hold in another form of the text: every format, by what the spans cover."""

import json

import pytest

from workbench.importers.offsets import Offsets, Quote
from workbench.importers.record_checks import Fault

TEXT = "Grüße 😀😀😀 an\r\nAda & <Bob> in Rom"
FORMS = {
    "the same text": (TEXT, ""),
    "line breaks count as one character": (TEXT.replace("\r\n", "\n"), ""),
    "UTF-16 units are counted": (TEXT, "utf-16-le"),
    "bytes of UTF-8 are counted": (TEXT, "utf-8"),
    "a byte order mark counts": ("\ufeff" + TEXT, ""),
    "&, < and > count as their escapes": (
        TEXT.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        "",
    ),
    "line breaks count as one character, UTF-16 units are counted": (
        TEXT.replace("\r\n", "\n"),
        "utf-16-le",
    ),
}


def place(text, codec, word):
    """The offsets of a word as they are counted in a text."""
    start = text.index(word)
    ends = (text[:start], text[: start + len(word)])
    size = 2 if codec == "utf-16-le" else 1
    return [len(part.encode(codec)) // size if codec else len(part) for part in ends]


def placed(how):
    """(word, start, end) of two words."""
    return [(word, *place(*FORMS[how], word)) for word in ("Ada", "Rom")]


def spans(record):
    text = record.document.text
    return {text[span.start : span.end] for span in record.spans["spans"]}


def as_brat(tmp_path, how):
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    path = tmp_path / "a.ann"
    lines = (f"T{n}\tX {start} {end}\t{word}" for n, (word, start, end) in enumerate(placed(how)))
    path.write_text("\n".join(lines) + "\n")
    return path


def as_doccano(tmp_path, how):
    label = [{"start": s, "end": e, "text": word, "label": "X"} for word, s, e in placed(how)]
    return _written(tmp_path, {"text": TEXT, "label": label})


def as_prodigy(tmp_path, how):
    spans = [{"start": s, "end": e, "text": word, "label": "X"} for word, s, e in placed(how)]
    return _written(tmp_path, {"text": TEXT, "spans": spans, "answer": "accept"})


def as_label_studio(tmp_path, how):
    result = [
        {
            "from_name": "ner",
            "type": "labels",
            "value": {"start": s, "end": e, "text": word, "labels": ["X"]},
        }
        for word, s, e in placed(how)
    ]
    return _written(tmp_path, {"data": {"text": TEXT}, "annotations": [{"result": result}]})


def _written(tmp_path, record):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record) + "\n")
    return path


@pytest.mark.parametrize("how", FORMS)
@pytest.mark.parametrize("write", [as_brat, as_doccano, as_prodigy, as_label_studio])
def test_offsets_are_converted_in_every_format(read, tmp_path, write, how):
    found = read(write(tmp_path, how))

    assert found.texts == [TEXT] and spans(found.records[0]) == {"Ada", "Rom"}
    name = "a.ann" if write is as_brat else "a.jsonl"
    said = f"{name}: the offsets of 1 document were converted: {how}."
    assert found.remarks == ([] if how == "the same text" else [said])


def test_offsets_that_fit_in_no_form_are_an_error(read):  # of which the first is named
    label = [{"start": 0, "end": 3, "text": "Ada", "label": "X"}]

    found = read(json.dumps({"text": "Eve met Ada", "label": label}), "doccano")

    assert found.skipped == [(1, "the span 0–3 covers 'Eve', but the file says 'Ada'")]


def test_offsets_in_a_table_are_converted_with_a_remark(read):
    cell = json.dumps([{"start": 4, "end": 7, "text": "Ada", "label": "X"}]).replace('"', '""')

    found = read(f'text,spans\n"😀😀Ada","{cell}"\n', "csv")

    assert spans(found.records[0]) == {"Ada"}
    assert found.remarks == [
        "file.txt: the offsets of 1 document were converted: UTF-16 units are counted."
    ]


def test_answers_of_squad_keep_the_occurrence_that_was_meant(read):  # not the nearest one
    answers = [{"text": "Rom", "answer_start": 7}]
    questions = [{"id": "1", "question": "q", "answers": answers}]
    paragraph = {"context": "😀😀😀 Rom Rom", "qas": questions}

    found = read(json.dumps({"data": [{"title": "t", "paragraphs": [paragraph]}]}), "squad")

    (question,) = next(iter(found.records[0].questions.values()))
    assert question.answers == ((4, 7),)
    assert "UTF-16 units are counted" in found.remarks[0]


def test_escapes_to_which_the_offsets_do_not_refer_are_decoded(read):
    label = [{"start": 4, "end": 7, "text": "Bob", "label": "X"}]

    found = read(json.dumps({"text": "A &amp; Bob", "label": label}), "doccano")

    assert found.texts == ["A & Bob"] and spans(found.records[0]) == {"Bob"}
    assert "with its escapes decoded" in found.remarks[0]


# ---------------------------------------------------------------- HTML of Label Studio


def hypertext(html, start, end, text, **more):
    value = {"text": text, "hypertextlabels": ["PER"], **more}
    value |= {"start": "/div[1]/text()[1]", "globalOffsets": {"start": start, "end": end}}
    result = [{"from_name": "ner", "type": "hypertextlabels", "value": value}]
    return {"data": {"html": html}, "annotations": [{"result": result}]}


def test_texts_of_html_are_imported_without_markup(read):  # label-studio-converter#37
    tasks = [
        hypertext("<div><p>Alice met Bob</p></div>", 0, 5, "Alice"),
        hypertext("<p>A &amp; B<br>Bob</p>", 6, 9, "Bob"),
        hypertext("<p>A<br/>Bob</p>", 1, 4, "Bob"),
        {"data": {"html": "<b>no</b> labels"}, "annotations": []},
    ]

    found = read(json.dumps(tasks), name="x.json")

    assert found.texts == ["Alice met Bob", "A & B\nBob", "ABob", "no labels"]
    assert [spans(record) for record in found.records[:3]] == [{"Alice"}, {"Bob"}, {"Bob"}]
    assert found.remarks == ["x.json: 4 texts were imported without their markup (HTML)."]


def test_a_span_of_html_without_offsets_in_the_text_is_found_if_it_occurs_once(read):
    tasks = [
        hypertext("<p>Alice met Bob</p>", 0, 0, "Bob"),
        hypertext("<p>Bob Bob</p>", 0, 0, "Bob"),
    ]
    for task in tasks:
        del task["annotations"][0]["result"][0]["value"]["globalOffsets"]

    found = read(json.dumps(tasks), name="x.json")

    assert spans(found.records[0]) == {"Bob"}
    assert found.skipped == [
        (1, "the place of 'Bob' is given by its element ('/div[1]/text()[1]') only")
    ]


# ---------------------------------------------------------------- texts in other files


def linked(address):
    value = {"start": 0, "end": 4, "text": "Kiel", "labels": ["LOC"]}
    result = [{"from_name": "label", "type": "labels", "value": value}]
    return json.dumps([{"id": 1, "data": {"text": address}, "annotations": [{"result": result}]}])


@pytest.mark.parametrize(
    "address",
    [
        "/data/upload/3/0a1b2c3d-x.txt",
        "https://example.invalid/a/x.txt?k=1",
        "/data/local-files/?d=texts/x.txt",
        "s3://bucket/x.txt",
    ],
)
def test_the_text_of_a_task_is_read_from_the_file_beside(read, tmp_path, address):
    (tmp_path / "x.txt").write_text("Kiel am Meer")

    found = read(linked(address), name="url.json")

    assert found.texts == ["Kiel am Meer"] and spans(found.records[0]) == {"Kiel"}


def test_a_missing_file_with_the_text_is_named(read):  # HumanSignal/label-studio#1890
    found = read(linked("/data/upload/3/x.txt"), name="url.json")

    assert found.skipped == [
        (
            1,
            "the text is not in the task but in the file x.txt ('/data/upload/3/x.txt'); put it "
            "beside the export, or export the tasks with their texts",
        )
    ]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Hot soup.", 4, 9),  # a byte order mark before
        ("a\nHot soup.", 6, 11),  # a line break of two characters before
        ("ü Hot soup.", 6, 11),  # a character of two bytes before
    ],
)
def test_white_space_beside_a_word_does_not_make_other_offsets_fit(text, start, end):
    """These offsets cover “soup.” as code points, and “ soup” if they are shifted by one."""
    quote = Quote.of(start, end, "soup")

    with pytest.raises(Fault, match=r"covers 'soup\.', but the file says 'soup'"):
        Offsets().counting(text, [quote], fixed=True)


def test_a_covered_text_without_its_white_space_fits_beside_another_that_fits_exactly():
    """Bytes are counted; the second place has a space that the file leaves out."""
    quotes = [Quote.of(3, 6, "Hot"), Quote.of(6, 11, "soup")]

    counting = Offsets().counting("ü Hot soup.", quotes, fixed=True)

    assert counting.span(3, 6) == (2, 5)
