"""Tables with one token per row, as those of Kaggle; expected values are read off the files."""

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options, Remark, Row, Skipped
from workbench.importers.detect import detect, first_rows
from workbench.importers.detect import read as read_all
from workbench.importers.source import Source

KAGGLE = '''Sentence #,Word,POS,Tag
Sentence: 1,Thousands,NNS,O
,marched,VBN,O
,through,IN,O
,London,NNP,B-geo
,"""",``,O
,.,.,O
Sentence: 2,Ada,NNP,B-per
,Lovelace,NNP,I-per
,",",",",O
'''


@pytest.fixture
def read(tmp_path):
    def _read(content, name="ner.csv", **options):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        source = Source(path)
        assert detect(source).format == "token-table"
        return list(read_all("token-table", source, Options(**options)))

    return _read


def records(items):
    return [item.record for item in items if isinstance(item, Row)]


def spans(record, layer="spans"):
    text = record.document.text
    return [(text[span.start : span.end], span.label) for span in record.spans[layer]]


def test_the_number_of_a_sentence_may_be_on_its_first_row_only(read):
    items = read(KAGGLE)
    first, second = records(items)

    assert first.document.text == 'Thousands marched through London " .'
    assert spans(first) == [("London", "geo")] and spans(second) == [("Ada Lovelace", "per")]
    assert spans(second, "pos") == [("Ada", "NNP"), ("Lovelace", "NNP"), (",", ",")]
    assert [item.line for item in items if isinstance(item, Row)] == [2, 8]


def test_the_number_may_be_on_every_row(read):
    content = "sentence_id;token;ner\n1;Ada;B-PER\n1;sings;O\n2;Bob;B-PER\n2;too;O\n"
    assert [spans(record) for record in records(read(content))] == [
        [("Ada", "PER")],
        [("Bob", "PER")],
    ]


def test_without_numbers_blank_rows_separate_sentences(read):
    for blank in ("\n", ",\n"):
        content = f"Word,Tag\nAda,B-PER\nsings,O\n{blank}Bob,B-PER\ntoo,O\n"
        texts = [record.document.text for record in records(read(content))]
        assert texts == ["Ada sings", "Bob too"]


def test_a_row_of_another_width_leaves_its_sentence_out_and_names_its_line(read):
    content = KAGGLE.replace(",through,IN,O", ",through,IN")
    items = read(content)

    assert [item.line for item in items if isinstance(item, Skipped)] == [4]
    assert [spans(record) for record in records(items)] == [[("Ada Lovelace", "per")]]


def test_columns_are_named_in_roles(read, tmp_path):
    items = read(KAGGLE, mapping=(("text", "Word"), ("tag:places", "Tag")))
    assert [list(record.spans) for record in records(items)] == [["places"], ["places"]]

    table = first_rows("token-table", Source(tmp_path / "ner.csv"), Options(), 2)
    assert table.columns == ("Sentence #", "Word", "POS", "Tag")
    assert table.mapping == (("text", "Word"), ("tag:spans", "Tag"), ("tag:pos", "POS"))
    assert [(row.line, row.cells[1]) for row in table.rows] == [(2, "Thousands"), (3, "marched")]
    assert table.spans == {"Tag": 2, "POS": 9}


def test_remarks_name_columns_as_the_file_does(read, tmp_path):
    items = read(KAGGLE, mapping=(("text", "Word"), ("tag:pos", "POS")))
    assert [item.message for item in items if isinstance(item, Remark)] == [
        "ner.csv: column POS has a tag for every token.",
        "ner.csv: column Tag holds tags and is left out (2 spans).",
    ]

    table = first_rows("token-table", Source(tmp_path / "ner.csv"), Options(), 2)
    assert "column Tag: " in table.why and "column 4" not in table.why


def test_tables_of_texts_are_no_tables_of_tokens(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("sentence,word,label\nThe tram was late,tram,1\nA fine day,day,0\n")
    assert detect(Source(path)).format == "csv"
    with pytest.raises(ImportFailed, match="one token per row"):
        list(read_all("token-table", Source(path), Options()))


@pytest.mark.parametrize(
    "between, name, format", [("\t", "a.txt", "conll"), (",", "a.csv", "token-table")]
)
def test_columns_between_tabs_with_blank_lines_are_conll(tmp_path, between, name, format):
    text = "WORD\tTAG\nThis\tO\nis\tO\n\nOslo\tB-LOC\n".replace("\t", between)
    (tmp_path / name).write_text(text, encoding="utf-8")

    assert detect(Source(tmp_path / name)).format == format


STANZA = '"Text","Pos","Ner"\n"Paris","NNP","B-LOC"\n"is","VBZ","O"\n"big","JJ","O"\n'


@pytest.mark.parametrize("separator", [",", ";", "|"])
@pytest.mark.parametrize("names", [("Text", "Ner"), ("TOKENS", "NER Tag"), ("Wort", "Etikett")])
def test_columns_with_other_names_are_found_by_their_contents(read, separator, names):
    """stanfordnlp/stanza#834."""
    content = STANZA.replace("Text", names[0]).replace("Ner", names[1]).replace(",", separator)

    (record,) = records(read(content))

    assert record.document.text == "Paris is big" and spans(record) == [("Paris", "LOC")]
    assert spans(record, "pos")[0] == ("Paris", "NNP")


def test_columns_with_other_names_can_be_given(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("Wort;Art;Etikett;Nummer\nParis;N;loc;a\nist;V;O;a\nRom;N;loc;b\n")
    mapping = (("text", "Wort"), ("tag:places", "Etikett"), ("id", "Nummer"))

    items = list(read_all("token-table", Source(path), Options(mapping=mapping)))

    assert [spans(record, "places") for record in records(items)] == [
        [("Paris", "loc")],
        [("Rom", "loc")],
    ]
    assert first_rows("token-table", Source(path), Options(mapping=mapping), 2).mapping == mapping


@pytest.mark.parametrize(
    "content",
    [
        "Paris,B-LOC\nis,O\nbig,O\n\nNew,B-LOC\nYork,I-LOC\n",
        "Paris;location\nis;O\nbig;O\n\nNew;location\nYork;location\nis;O\n",
        "No,Word,Tag\n1,Paris,B\n1,is,O\n2,New,B\n2,York,I\n",
        "Satz;Wort;Etikett\n1;Paris;PER-B\n1;is;O\n2;New;PER-B\n2;York;PER-I\n",
    ],
)
def test_tables_without_known_names_or_a_header(read, content):
    first, second = records(read(content))

    assert [name for name, _label in (*spans(first), *spans(second))] == ["Paris", "New York"]


def test_several_columns_of_tags_are_layers_named_as_they_are(read):
    content = "TOKEN,NE-LIT,NE-METO,MISC\nGenf,B-loc,B-org,NoSpaceAfter\n!,O,O,_\n"

    (record,) = records(read(content))

    assert record.document.text == "Genf!"
    assert spans(record, "NE-LIT") == [("Genf", "loc")]
    assert spans(record, "NE-METO") == [("Genf", "org")]


@pytest.mark.parametrize(
    "content",
    ["name,blood\nAnn,A\nBob,O\nCy,O\nDee,AB\nEd,A\n", "text,label\nThe tram is late,O\nGo,x\n"],
)
def test_other_tables_with_the_value_o_are_no_tokens(tmp_path, content):
    (tmp_path / "a.csv").write_text(content)

    assert detect(Source(tmp_path / "a.csv")).format == "csv"
