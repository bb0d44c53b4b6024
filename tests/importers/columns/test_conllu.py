import pytest

from workbench.text.spans import Span


def test_words_keep_their_place_in_the_sentence(read, tiny):
    (record,) = read(tiny / "contraction.conllu").records
    document = record.document

    assert (document.key, document.group, document.text) == ("s1", "letters-1", "I don't know du.")
    assert [document.text[a:b] for a, b in document.tokens["text"]] == [
        "I",
        "do",
        "n't",
        "know",
        "du",
        ".",
    ]


def test_a_contraction_that_cannot_be_cut_has_both_tags(read, tiny):
    (record,) = read(tiny / "contraction.conllu").records

    assert (
        Span(13, 15, "ADP+DET") in record.spans["upos"]
        and Span(4, 7, "PART") in record.spans["upos"]
    )


def test_a_word_that_is_not_in_the_text_is_a_fault(read, tiny):
    broken = (tiny / "contraction.conllu").read_text().replace("\tknow\tknow", "\tgrow\tknow")

    ((line, reason),) = read(broken, "conllu").skipped
    assert line == 1 and "grow" in reason


def test_the_treebank_comes_in_whole(read, data_folder):
    records = read(data_folder / "datasets/pos-ud-ewt/dev.conllu")

    assert len(records.records) == 2001 and not records.skipped


def test_the_number_of_a_word_may_not_have_endless_digits(read):
    number = "9" * 5000

    records = read(
        f"1-{number}\tab{chr(9) + '_'}" + "\t_" * 7 + "\n1\tab" + "\t_" * 8 + "\n", "conllu"
    )

    assert (
        records.records == []
        and "expected the number of a word" in records.skipped[0][1]
        and len(records.skipped[0][1]) < 100
    )


def test_several_columns_can_go_to_one_layer(read):
    line = "1\tAda\tada\tPROPN\tNNP\t_\t0\troot\t_\t_\n\n"
    mapping = (("text", "form"), ("tag:pos", "upos"), ("tag:pos", "xpos"))

    (record,) = read(line, "conllu", mapping=mapping).records

    assert [span.label for span in record.spans["pos"]] == ["PROPN", "NNP"]


def test_columns_beyond_the_tenth_are_left_out_with_a_remark(read):
    row = "\t".join("1 Ada ada PROPN NNP _ 0 root _ _ come.03 ARG1".split())

    records = read(row + "\n\n", name="up.conllu")

    assert records.texts == ["Ada"] and "after the tenth" in records.remarks[-1]


def test_a_line_with_more_columns_than_the_others_is_a_fault(read):
    good = "\t".join("1 Ada ada PROPN NNP _ 0 root _ _".split())

    records = read(f"{good}\n{good}\tx\n\n{good}\n", "conllu")

    assert records.texts == ["Ada"]
    assert records.skipped == [(2, "the line has 11 columns, expected 10")]


def test_several_spaces_separate_columns_where_tabs_were_replaced(read):
    row = "1    They     they    PRON    PRP    Case=Nom   2    nsubj    2:nsubj   _"

    records = read(row + "\n\n", name="a.conllu")

    assert records.texts == ["They"] and records.records[0].spans["upos"] == (Span(0, 4, "PRON"),)


def test_a_table_of_many_columns_is_not_taken_for_sentences(read):
    rows = "".join("\t".join([str(n), *"abcdefghij"]) + "\n" for n in range(1, 5))

    assert not read(rows, name="table.tsv").remarks or len(read(rows, name="table.tsv").texts) == 4


def in_misc(*sentences):
    """Sentences of (word, tag) in which the tags are entries of MISC."""
    return "".join(
        "".join(
            f"{n}\t{word}\t_\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=Yes|Tag={tag}\n"
            for n, (word, tag) in enumerate(sentence, 1)
        )
        + "\n"
        for sentence in sentences
    )


@pytest.mark.parametrize(
    ("b", "i", "label"),
    [("PER-B", "PER-I", "PER"), ("B", "I", "entity"), ("b-PER", "i-PER", "PER")],
)
def test_the_scheme_of_tags_in_misc_is_that_of_the_whole_column(read, b, i, label):
    """The first sentence alone would not tell what its only tag is."""
    records = read(
        in_misc(
            [("Sud", i), ("Roma", i)],
            [("We", "O"), ("saw", "O"), ("Sud", b), ("Roma", i), ("Otto", b)],
        )
    ).records

    assert [record.spans["spans"] for record in records] == [
        (Span(0, 8, label),),
        (Span(7, 15, label), Span(16, 20, label)),
    ]


def test_labels_without_prefixes_in_misc_are_spans(read):
    """As in other files of columns, adjacent words with the same label are one span."""
    mapping = (("text", "form"), ("tag:ner", "misc"))
    sentences = in_misc([("We", "O"), ("Sud", "PER"), ("Roma", "PER")], [("Otto", "PER")])

    records = read(sentences, "conllu", mapping=mapping)

    assert [record.spans["ner"] for record in records.records] == [
        (Span(3, 11, "PER"),),
        (Span(0, 4, "PER"),),
    ]
    assert not [item for item in records.layers if getattr(item, "kind", "") == "tag"]
