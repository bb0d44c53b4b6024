"""`people` and `agreement`."""

from contextlib import closing

import pytest

from workbench.project.project import Project


@pytest.fixture
def file(call, tmp_path):
    path, texts = tmp_path / "p.glossbench", tmp_path / "texts.txt"
    texts.write_text("one\ntwo\nthree\n", encoding="utf-8")
    with closing(Project.create(path)):
        pass
    assert call("import", path, texts)[0] == 0
    assert call("relabel", "add", path, "class", "yes", "--kind", "class")[0] == 0
    return path


def test_people_are_added_renamed_and_chosen(ask, call, file):
    assert ask("people-add", "people", "add", file, "Ada Lovelace") == {"name": "Ada Lovelace"}
    ask(
        "people-rename", "people", "rename", file, "Ada Lovelace", "Ada King", "--colour", "#aa3377"
    )
    ask("people-work-as", "people", "work-as", file, "Ada King")

    first, ada = ask("people-list", "people", "list", file)

    assert ada == {
        "name": "Ada King", "initials": "AK", "colour": "#aa3377", "submitted": 0,
        "assigned": 0, "done": 0, "gold": ["class"], "current": True,
    }  # fmt: skip
    assert not first["current"] and first["gold"] == []
    ask("people-gold", "people", "gold", file, first["name"], "--layer", "class")
    assert ask("people-list", "people", "list", file)[0]["gold"] == ["class"]
    assert ask("people-blind", "people", "blind", file) == {"blind": False}
    assert ask("people-blind", "people", "blind", file, "--on") == {"blind": True}
    assert ask("people-blind", "people", "blind", file) == {"blind": True}
    code, _out, error = call("people", "work-as", file, "Cid")
    assert code == 1 and "Ada King" in error


def test_agreement_of_two_people(ask, call, file):
    from workbench.operations.annotation import annotate
    from workbench.operations.people import people
    from workbench.operations.schema import labels

    with closing(Project.open(file)) as project:
        layer = labels.layer_named(project, "class")
        no = labels.add_label(project, layer.id, "no")
        yes = layer.label("yes").id
        for said in ((yes, yes, no), (yes, no, no)):
            for document, label in enumerate(said, 1):
                annotate.set_class(project, document, label)
                annotate.submit(project, document, [layer.id])
            people.work_as(project, people.add(project, f"Person {said}").id)

    result = ask("agreement", "agreement", file)

    assert (result["layer"], result["documents"], result["units"]) == ("class", 3, 6)
    measures = {row["name"]: row for row in result["measures"]}
    assert measures["observed_agreement"]["value"] == pytest.approx(2 / 3)
    assert measures["kappa"]["value"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert [row["versions"] for row in result["differences"]] == [["yes", "no"]]
    code, out, _error = call("agreement", file, "--layer", "class")
    assert code == 0 and "3 documents labelled by two or more, 1 with differences" in out
    assert "Cohen’s kappa" in out
    code, out, _error = call("agreement", file, "--differences")
    assert code == 0 and "two" in out
    assert "yes and no" not in out  # of two labels there is one difference only
    assert result["with_runs"] == []
    code, _out, error = call("agreement", file, "--between", "Nobody")
    assert code == 1 and "'Nobody' has no labels in layer class" in error


@pytest.fixture
def labelled(file):
    """Two people, of whom the second one differs in the last of three documents."""
    from workbench.operations.annotation import annotate
    from workbench.operations.people import people
    from workbench.operations.schema import labels

    with closing(Project.open(file)) as project:
        layer = labels.layer_named(project, "class")
        no = labels.add_label(project, layer.id, "no")
        yes = layer.label("yes").id
        for number, labels_of in enumerate(((yes, no, no), (yes, no, yes))):
            if number:
                people.work_as(project, people.add(project, "Ben").id)
            for document, label in enumerate(labels_of, 1):
                annotate.set_class(project, document, label)
                annotate.submit(project, document, [layer.id])
    return file


def test_agreement_over_time_and_of_one_person_twice(ask, call, labelled):
    result = ask("agreement-over-time", "agreement", labelled, "--over-time", "--block", "1")
    measured = [period["measures"][0]["value"] for period in result["periods"]]
    assert sorted(measured) == [0, 1, 1] and result["by"] == 1

    assert ask("agreement-twice", "agreement", labelled, "--twice")["people"] == []
    code, out, _error = call("agreement", labelled, "--over-time")
    assert code == 0 and "Change from the first" in out
    code, out, _error = call("agreement", labelled, "--twice")
    assert code == 0 and "Nobody has labelled a text twice." in out


def test_a_report_is_written_and_other_suffixes_are_refused(ask, call, labelled, tmp_path):
    for suffix in (".html", ".csv"):
        path = tmp_path / f"report{suffix}"
        assert ask("agreement-report", "agreement", labelled, "--report", path) == {
            "path": str(path)
        }
        assert "Ben" in path.read_text(encoding="utf-8")
    code, _out, error = call("agreement", labelled, "--report", tmp_path / "report.pdf")
    assert code == 1 and ".html or .csv" in error
    code, _out, error = call(
        "agreement", labelled, "--report", tmp_path / "r.csv", "--between", "Zoe"
    )
    assert code == 1 and "'Zoe' has no labels" in error and "Ben" in error


def test_documents_are_handed_out_labelled_and_merged(ask, call, file, tmp_path):
    from workbench.operations.annotation import annotate
    from workbench.operations.schema import labels

    rows = ask(
        "project-hand-out", "project", "hand-out", file, tmp_path / "out",
        "--to", "Ada", "--to", "Ben", "--shared", "34%:all", "--seed", "2",
        "--blind",
    )  # fmt: skip
    assert [row["documents"] for row in rows] == [2, 2]
    assert ask("people-blind", "people", "blind", rows[0]["path"]) == {"blind": True}
    for row in rows:
        with closing(Project.open(row["path"])) as project:
            layer = labels.layer_named(project, "class")
            for id in (r.document.id for r in records(project)):
                annotate.set_class(project, id, layer.label("yes").id)
                annotate.submit(project, id, [layer.id])

    dry = ask("project-merge", "project", "merge", file, rows[0]["path"], "--dry-run")
    done = ask("project-merge", "project", "merge", file, rows[0]["path"])
    code, out, _error = call("project", "merge", file, rows[1]["path"])

    assert dry == done and done["people"][0]["new"] == 2
    assert code == 0 and "2 documents are here already" in out and "Ben" in out
    assert ask("agreement", "agreement", file)["documents"] == 1
    assert ask("project-check", "project", "check", file)["ok"]
    again = ask("project-merge", "project", "merge", file, rows[0]["path"])
    assert again["people"][0]["new"] == 0 and again["people"][0]["equal"] == 2
    code, _out, error = call("project", "merge", file, rows[0]["path"], "--person", "Zoe=Ada")
    assert code == 1 and "Zoe" in error
    code, _out, error = call("project", "hand-out", file, tmp_path / "out", "--to", "Ada")
    assert code == 1 and "exists already" in error
    code, _out, error = call("project", "hand-out", file, tmp_path, "--to", "A", "--shared", "x")
    assert code == 2 and "20%:2" in error


def records(project):
    from workbench.storage.documents import documents

    return list(documents.records(project.db))
