"""What people disagree about most, as an open question in the guideline of the layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.operations.people.verdict import Confused, label_title, most_confused
from workbench.operations.schema import guideline
from workbench.storage.labels import labels
from workbench.text.guideline import escaped
from workbench.text.result_view import NONE
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.operations.people.agreement import Agreement, Difference
    from workbench.project.project import Project

MOST = 200  # code points of the text of an example


def add(project: Project, item: Agreement, *, origin: object = None) -> str:
    """Append the most frequent difference of a layer to its guideline, in one undo step, for the
    user to decide; returns the line. Raises SpecError if there is none, or it is there already.
    """
    confused = most_confused(item)
    if confused is None:
        raise SpecError(_("People never gave different labels in layer {name}.", name=_name(item)))
    line = question(confused, example(item, confused))
    layer = labels.layer(project.db, row_id(item.layer))
    if line in layer.guideline.splitlines():
        raise SpecError(
            _("The guideline of {name} has this question already.", name=_name(item)),
            hint=_("Decide it in the guideline, and label the differences again."),
        )
    title = f"## {_('Open questions')}"
    text = layer.guideline.rstrip()
    if title not in text.splitlines():
        text = f"{text}\n\n{title}\n".lstrip("\n")
    guideline.write(project, row_id(layer), f"{text}\n{line}\n", origin=origin)
    return line


def _name(item: Agreement) -> str:
    return item.layer.name


def question(confused: Confused, about: Difference | None) -> str:
    """An item of a list in Markdown."""
    first, second = (escaped(label_title(name)) for name in (confused.first, confused.second))
    sentence = ngettext(
        "{first} or {second}? {count} of {n:,} difference between people.",
        "{first} or {second}? {count} of {n:,} differences between people.",
        confused.total,
        first=first,
        second=second,
        count=confused.count,
    )
    if about is None:
        return f"- {sentence}"
    text = " ".join(about.text.split())
    text = text if len(text) <= MOST else f"{text[:MOST]}…"
    return "- " + _(
        "{question} For example: {text} ({key})",
        question=sentence,
        text=escaped(text),
        key=escaped(about.key),
    )


def example(item: Agreement, confused: Confused) -> Difference | None:
    """The first document on which people differ in this way."""
    rows = {row.document_id: row for row in item.differences}
    for confusion in item.confusions.values():
        names = [name or NONE for name in confusion.labels]
        for (down, across), places in sorted(confusion.where.items()):
            if sorted((names[down], names[across])) == [confused.first, confused.second]:
                for place in places:
                    if (row := rows.get(item.documents[place])) is not None:
                        return row
    return None
