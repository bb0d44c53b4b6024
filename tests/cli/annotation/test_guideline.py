"""`guideline`."""

from datetime import timedelta

import pytest

from workbench.operations.schema import guideline

TEXT = "## yes\n\nSaid so.\n"


@pytest.fixture
def labelled(call, file, tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"id": "d1", "text": "Ada met Bob. It rained."}', encoding="utf-8")
    assert call("import", file, texts)[0] == 0
    assert call("relabel", "add", file, "class", "yes", "--kind", "class")[0] == 0
    (tmp_path / "rules.md").write_text(TEXT, encoding="utf-8")
    return file


def test_a_guideline_is_set_shown_extended_and_restored(ask, call, labelled, tmp_path, monkeypatch):
    monkeypatch.setattr(guideline, "TOGETHER", timedelta(0))
    ask("guideline-set", "guideline", "set", labelled, tmp_path / "rules.md")
    added = ask(
        "guideline-add-example", "guideline", "add-example", labelled, "d1", "yes",
        "--words", "Bob", "--negative", "--remark", "A name.",
    )  # fmt: skip
    (shown,) = ask("guideline-show", "guideline", "show", labelled)

    assert (added["text"], added["start"], added["end"]) == ("Ada met Bob.", 8, 11)
    assert shown["examples"] == [{key: added[key] for key in shown["examples"][0]}]
    assert shown["labels"][0]["sentence"] == "Said so."
    assert call("guideline", "show", labelled)[1].endswith(
        f"{TEXT}\n- ✗ Ada met [**Bob**]. `d1`\n  - A name.\n"
    )

    versions = ask("guideline-history", "guideline", "history", labelled)
    assert [version["number"] for version in versions] == [2, 1]
    code, out, _error = call("guideline", "history", labelled, "--difference", "2")
    assert code == 0 and "+ - ✗ Ada met [**Bob**]. `d1`" in out and "  Said so." in out
    ask("guideline-restore", "guideline", "restore", labelled, 1)
    assert ask("guideline-show", "guideline", "show", labelled)[0]["guideline"] == TEXT


def test_the_page_of_all_layers_is_written(ask, labelled, tmp_path):
    page = tmp_path / "guideline.html"
    ask("guideline-set", "guideline", "set", labelled, tmp_path / "rules.md")

    assert ask("guideline-export", "guideline", "export", labelled, page)["layers"] == 1

    assert "Said so." in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add-example", "d1", "no"), "Choose a layer with --layer"),
        (("add-example", "d1", "yes", "--words", "Cid"), "does not contain 'Cid'"),
        (("add-example", "d1", "yes", "--at", "x"), "not of the form START:END"),
        (("add-example", "d1", "yes", "--at", "5:99"), "not in the text of d1"),
        (("restore", "3"), "no version 3"),
        (("export", "/"), "/"),
    ],
)
def test_what_is_wrong_is_said(call, labelled, arguments, message):
    command, *rest = arguments
    code, _out, error = call("guideline", command, labelled, *rest)
    assert code == 1 and message in error


def test_a_file_of_another_encoding_is_refused(call, labelled, tmp_path):
    (tmp_path / "latin.md").write_bytes("Grüße".encode("latin-1"))
    code, _out, error = call("guideline", "set", labelled, tmp_path / "latin.md")
    assert code == 1 and "is not UTF-8: byte 3" in error
