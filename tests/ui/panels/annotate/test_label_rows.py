from types import SimpleNamespace

from workbench.ui.panels.annotate.label_rows import LabelAndText
from workbench.ui.widgets.table import Column, Table


def test_texts_of_a_row_are_made_again_when_the_row_or_what_they_depend_on_changes(qtbot):
    made, basis = [], ["Monday"]

    def text_of(row):
        made.append(row.id)
        return f"{row.text}, {basis[0]}"

    table = Table((Column("Text", text_of),), key=lambda row: row.id, name="Rows")
    qtbot.addWidget(table)
    rows = LabelAndText(table, lambda row: ("A", None), text_of, depends_on=lambda: basis[0])
    first, changed = SimpleNamespace(id=1, text="tram"), SimpleNamespace(id=1, text="bus")

    assert [rows._shown(row).text for row in (first, first)] == ["tram, Monday"] * 2
    assert made == [1]
    assert rows._shown(changed).text == "bus, Monday"
    basis[0] = "Tuesday"
    assert rows._shown(first).text == "tram, Tuesday" and made == [1, 1, 1]
