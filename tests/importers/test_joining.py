from workbench.importers.joining import join


def test_a_space_stands_between_words_and_none_between_chinese_or_japanese_letters():
    assert (
        join(["Ada", "met"])[0] == "Ada met"
        and join(["北", "京", "10", "号"])[0] == "北京 10 号"
        and join(["東京", "タワー"])[0] == "東京タワー"
    )


def test_korean_keeps_its_spaces():
    assert join(["서울", "에서"])[0] == "서울 에서"


def test_offsets_point_at_the_tokens():
    tokens = ["Wait", "!", "北", "京", "👍"]
    text, offsets = join(tokens, [True, False, False, False, False])

    assert text == "Wait! 北京 👍" and [text[a:b] for a, b in offsets] == tokens
