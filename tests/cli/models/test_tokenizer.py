"""`tokenizer train|compare|show`."""

import pytest

TOY = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.txt"
    path.write_text("\n".join(word for word, n in TOY.items() for _ in range(n)))
    return path


def test_merges_by_score_and_by_count_are_shown_beside_each_other(ask, call, toy):
    found = ask("tokenizer-show-merges", "tokenizer", "show", "--merges", toy)
    out = call("tokenizer", "show", "--merges", toy)[1]

    assert (found["score"][0]["merged"], found["score"][0]["score"]) == ("##gs", 0.05)
    assert (found["count"][0]["merged"], found["count"][0]["count"]) == ("##ug", 20)
    assert "0.050000" in out and "By count" in out


def test_a_word_is_divided_step_by_step(ask, call):
    (found,) = ask("tokenizer-show", "tokenizer", "show", "starter-bert", "Unaffable")
    out = call("tokenizer", "show", "starter-bert", "Unaffable")[1]

    assert found["units"] == ["una", "##ffa", "##ble"]
    assert [step["found"] for step in found["steps"]] == found["units"]
    assert found["steps"][0]["tried"][0] == "unaffable"
    assert "Position 3: ##ffa, after 3 longer candidates" in out
    (other,) = ask("tokenizer-show", "tokenizer", "show", "starter-gpt", "unaffable")
    assert other["steps"] == [] and "".join(other["units"]).endswith("affable")


@pytest.mark.process
def test_a_tokenizer_is_learned_and_compared(ask, call, toy, tmp_path):
    out = tmp_path / "toy-tokenizer"
    result = ask("tokenizer-train", "tokenizer", "train", toy, out, "--size", "40")
    found = ask("tokenizer-compare", "tokenizer", "compare", out, "starter-bert", toy)

    assert result["size"] <= 40 and (out / "tokenizer.json").is_file()
    assert found[0]["fertility"] == 1.0 and found[0]["unknown"] == 0
    assert found[1]["name"] == "starter-bert" and found[1]["cut"]["128"] == 0
    assert "Tokens per word" in call("tokenizer", "compare", out, "starter-bert", toy)[1]
    code, _out, err = call("tokenizer", "train", toy, out)
    assert code == 1 and "not an empty folder" in err


def test_wrong_use_is_refused(call, toy, tmp_path):
    assert call("tokenizer", "show")[0] == 2
    assert call("tokenizer", "train", toy, tmp_path / "x", "--type", "nix")[0] == 2
    code, _out, err = call("tokenizer", "train", toy, tmp_path / "x", "--size", "3")
    assert code == 1 and "expected 30 to 500,000" in err
    assert call("tokenizer", "compare", "nix", "starter-bert", toy)[0] == 1
