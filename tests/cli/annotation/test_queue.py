"""`queue`: the next documents in file order and in the order of a strategy."""

import pytest


@pytest.mark.process
def test_the_order_is_kept_until_file_order_is_chosen(ask, call, tmp_path, jobs_in_process):
    sample = ask("sample", "sample", tmp_path / "s")["path"]
    options = ("queue", "queue", sample, "--layer", "class", "-n", 3)

    files = ask(*options)
    drawn = ask(*options, "--order", "random", "--control", 0)
    again = ask(*options)

    assert files["order"] == "file" and len(files["documents"]) == 3 and files["left"] == 128
    assert drawn["order"] == "random" and drawn["documents"] != files["documents"]
    assert again == drawn
    assert ask(*options, "--order", "file") == files
    some = ask(*options, "--where", "train")
    assert 0 < some["left"] < 128
    assert all("train" in item["text"].casefold() for item in some["documents"])
    code, _out, err = call("queue", sample, "--layer", "class", "--order", "margin")
    assert code == 1 and "requires the predictions of a run" in err
