"""Only two modules can make Qt interpret text as HTML: tooltips and Markdown."""

import ast
from pathlib import Path

from tests import source

TIPS = {"setToolTip", "setTabToolTip", "setWhatsThis", "setStatusTip", "QToolTip", "QWhatsThis"}
RICH = {
    "QTextBrowser",
    "QTextEdit",
    "QTextDocument",
    "QMessageBox",
    "QErrorMessage",
    "QStaticText",
    "QGraphicsTextItem",
    "TextItem",
    "LabelItem",
    "setHtml",
    "insertHtml",
    "appendHtml",
    "setMarkdown",
    "setInformativeText",
    "setDetailedText",
}
LABELS = {"QLabel"}
PLACES = {  # file → the names that may be used there
    "panels/annotate/metadata.py": {"QTextEdit"},  # plain text with formats of its own
    "panels/data/duplicates_view.py": {"QTextEdit"},  # plain text with formats of its own
    # pyqtgraph's, which shows `text` as it is; only `html` would be interpreted
    "widgets/charts/layers.py": {"TextItem"},
    "widgets/text/marked_text.py": {"QTextEdit"},  # only its ExtraSelection, for a QPlainTextEdit
    "widgets/text/guideline_view.py": {"QTextDocument", "QTextEdit"},  # FindFlag, ExtraSelection
    "style/escaping.py": TIPS,
    "widgets/tables/document_cells.py": {"QStaticText"},  # its format is plain text
    "widgets/text/markdown.py": RICH,
    "widgets/controls/words.py": LABELS,
}


def uses(path: Path) -> list[tuple[str, int]]:
    """Names and attributes that are called or derived from, with their lines."""
    result = []
    for node in source.nodes(path, ast.Call, ast.ClassDef, ast.Attribute):
        used = []
        if isinstance(node, ast.Call):
            used = [node.func]
        elif isinstance(node, ast.ClassDef):
            used = node.bases
        elif isinstance(node, ast.Attribute):
            used = [node.value]
        for item in used:
            if isinstance(item, ast.Attribute):
                result.append((item.attr, node.lineno))
            elif isinstance(item, ast.Name):
                result.append((item.id, node.lineno))
    return result


def tip_returns(path: Path) -> list[tuple[ast.expr | None, int]]:
    """What is returned if a model is queried for `ToolTipRole` only."""
    collected = []
    for node in source.nodes(path, ast.If):
        if (
            isinstance(node.test, ast.Compare)
            and isinstance(node.test.ops[0], ast.Eq)
            and "ToolTipRole" in ast.unparse(node.test.comparators[0])
        ):
            collected += [
                (inner.value, inner.lineno)
                for part in node.body
                for inner in ast.walk(part)
                if isinstance(inner, ast.Return)
            ]
    return collected


def escaped(value: ast.expr | None) -> bool:
    if isinstance(value, ast.IfExp):
        return escaped(value.body) and escaped(value.orelse)
    return (
        value is None
        or ast.unparse(value).startswith("escaping.tip(")
        or ast.unparse(value) == "None"
    )


def test_tooltips_labels_and_rich_text_are_made_in_one_place_each():
    faults = []
    for file, path in source.of_window().items():
        forbidden = (TIPS | RICH | LABELS) - PLACES.get(file, set())
        faults += [f"{file}:{line}: {name}" for name, line in uses(path) if name in forbidden]

    assert faults == []


def test_models_give_tooltips_that_read_as_they_are_written():
    returns = [
        (file, line, value)
        for file, path in source.of_window().items()
        for value, line in tip_returns(path)
    ]

    assert [f"{file}:{line}" for file, line, value in returns if not escaped(value)] == []
    assert len(returns) >= 5  # the tables, both lists of documents, the palette of labels


def test_no_tooltip_is_set_as_data_of_an_item():
    faults = [
        f"{file}:{node.lineno}"
        for file, path in source.of_window().items()
        for node in source.nodes(path, ast.Call)
        if any("ToolTipRole" in ast.unparse(a) for a in node.args)
    ]

    assert faults == []
