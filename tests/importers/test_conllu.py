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
    found = read(data_folder / "datasets/pos-ud-ewt/dev.conllu")

    assert len(found.records) == 2001 and not found.skipped


def test_the_number_of_a_word_may_not_have_endless_digits(read):
    number = "9" * 5000

    found = read(
        f"1-{number}\tab{chr(9) + '_'}" + "\t_" * 7 + "\n1\tab" + "\t_" * 8 + "\n", "conllu"
    )

    assert (
        found.records == []
        and "expected the number of a word" in found.skipped[0][1]
        and len(found.skipped[0][1]) < 100
    )
