from workbench.text.duplicates import groups


def test_texts_that_differ_in_case_accents_and_signs_are_one_group():
    result = groups(
        [(1, "The café, late!"), (2, "the cafe late"), (3, "another"), (4, "!!!"), (5, "???")]
    )

    assert result == {1: 1, 2: 1}
