"""`adjudicate`: from two versions to gold."""

from contextlib import closing

import pytest

from tests.operations.people.test_adjudication import Court, spans

ADA, AT = (0, 3, "a"), (0, 7, "a")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.glossbench"
    court = Court(path)
    with closing(court.project):
        rows = [[spans(ADA), spans(AT)]] * 3 + [[spans(ADA), spans(ADA)]]
        court.say("names", "spans", rows)
    return path


def test_differences_are_listed_decided_and_submitted(ask, call, file):
    overview = ask("adjudicate-list", "adjudicate", "list", file)
    assert [(row["key"], row["open"]) for row in overview["documents"]] == [
        ("names0", 1), ("names1", 1), ("names2", 1),
    ]  # fmt: skip
    assert overview["agreed"] == 1 and overview["layers"][0]["total"] == 3
    code, _out, error = call("adjudicate", "decide", file, "names0", 1, "Ben")
    assert code == 1 and "Begin adjudication first" in error
    assert ask("adjudicate-begin", "adjudicate", "begin", file) == {"documents": 1}

    shown = ask("adjudicate-show", "adjudicate", "show", file, "names0")
    assert [row["name"] for row in shown["annotators"]] == ["me", "Ben"]
    assert [[mark["text"] for mark in v] for v in shown["differences"][0]["versions"]] == [
        ["Ada"], ["Ada met"],
    ]  # fmt: skip
    rows = ask("adjudicate-decide", "adjudicate", "decide", file, "names0", 1, "Ben", "--alike",
               "--dry-run")  # fmt: skip
    assert [row["key"] for row in rows] == ["names0", "names1", "names2"]
    assert ask("adjudicate-list", "adjudicate", "list", file)["documents"][0]["open"] == 1
    call("adjudicate", "decide", file, "names0", 1, "both", "--note", "Is it a name?")
    call("adjudicate", "decide", file, "names0", 1, "open")
    call("adjudicate", "decide", file, "names1", 1, "Ben", "--alike")
    code, out, _error = call("adjudicate", "show", file, "names2")
    assert code == 0 and "a: Ada met" in out and "Ben" in out
    code, out, _error = call("adjudicate", "list", file)
    assert code == 0 and "3 of 3 decided" in out
    done = ask("adjudicate-submit", "adjudicate", "submit", file)
    assert done == {"documents": 3, "warnings": []}
    shown = ask("adjudicate-show", "adjudicate", "show", file, "names0")
    assert shown["done"] and shown["differences"][0]["note"] == "Is it a name?"
    assert ask("project-check", "project", "check", file)["ok"]


def test_the_majority_and_its_suggestions(ask, call, file):
    result = ask("adjudicate-majority", "adjudicate", "majority", file, "--layer", "names")
    assert (result["items"], result["open"], result["suggested"]) == (7, 6, 0)
    code, out, _error = call(
        "adjudicate", "majority", file, "--method", "dawid-skene", "--suggest", "--between", "me",
        "--between", "Ben",
    )  # fmt: skip
    assert code == 0 and "suggestion" in out and "Ben" in out


def test_what_is_not_possible_is_said(call, file):
    for arguments, message in (
        (("show", file, "x"), "No document has the key 'x'"),
        (("decide", file, "names0", 9, "Ben"), "names0 has no difference 9"),
        (("decide", file, "names0", 1, "Zoe"), "'Zoe' is neither a person nor a decision"),
        (("list", file, "--between", "me"), "at least two people"),
        (("submit", file, "names0"), "1 difference of names0 is open"),
    ):
        if arguments[0] == "submit":
            call("adjudicate", "begin", file)
        code, _out, error = call("adjudicate", *arguments)
        assert code == 1 and message in error, error
