"""`pronouns`: which name the pronouns of GAP mean, by rules and by chains of runs."""

import pytest

from workbench.importers.tables.gap import COLUMNS

TEXT = "Ada met Bob at the sea. He waved to Eve and Bob."
ROW = ("t-1", TEXT, "He", "24", "Eve", "36", "FALSE", "Bob", "8", "TRUE")


@pytest.fixture
def project(tmp_path, call):
    table, file = tmp_path / "gap.tsv", tmp_path / "p.glossbench"
    table.write_text("\t".join(COLUMNS) + "\n" + "\t".join(ROW) + "\n", encoding="utf-8")
    assert call("project", "new", file)[0] == 0
    assert call("import", file, table, "--split", "dev")[0] == 0
    return file


def test_rules_are_scored_by_gender(project, ask):
    rows = {row["system"]: row for row in ask("pronouns", "pronouns", project)}

    assert [rows[name]["f1"] for name in ("nearest", "first", "frequent")] == [
        0.0,  # “waved to” is shorter than “at the sea.”
        1.0,
        1.0,
    ]
    assert rows["first"]["masculine"] == 1.0 and rows["first"]["feminine"] is None


def test_a_split_without_documents_of_gap_is_refused(project, call):
    code, _out, err = call("pronouns", project, "--split", "test")

    assert code == 1 and "no documents of GAP" in err
