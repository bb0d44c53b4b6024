from workbench.ui.widgets.document_table import DocumentRows, DocumentTable


def test_choosing_all_of_a_long_table_does_not_ask_for_every_row(look, qtbot, monkeypatch):
    asked, count = [], DocumentRows.rowCount
    monkeypatch.setattr(
        DocumentRows, "rowCount", lambda self, *parent: asked.append(1) or count(self, *parent)
    )
    table = DocumentTable(lambda ids: [], dict, "Documents")
    qtbot.addWidget(table)
    table.resize(900, 400)
    table.show()
    table.show_ids(range(60_000))

    table.selectAll()
    table.grab()

    assert table.chosen_count() == 60_000 and len(asked) < 3000
