"""Whose labels an import takes where the files name annotators, and as whose they are stored.

AUTO: as ALL if several people labelled a document, else as FIRST. ALL: the labels of each person
stay theirs. FILES: each file holds the labels of the person after whom it is named. FIRST: one
version of each document, the curated one or else the first, is imported as labels of whoever
imports. ONE and a name: only the labels of that person.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import ImportFailed, SpecError
from workbench.base.i18n import _, ngettext
from workbench.operations.people import adjudication, people
from workbench.operations.transfer import archives, import_choice
from workbench.storage.annotation import people as store
from workbench.storage.labels import labels
from workbench.text.labels import CURATED

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.staging.copy_staged import Targets
    from workbench.storage.staging.staging import Staged

AUTO, ALL, FILES, FIRST, ONE = "", "all", "files", "first", "one:"
MOST_PEOPLE = 1_000
_LISTED = 10


def check(choice: str) -> None:
    """Raises SpecError for an unknown choice."""
    if choice not in (AUTO, ALL, FILES, FIRST) and not choice.removeprefix(ONE).strip():
        raise SpecError(_("The choice “one:” needs the name of a person."))
    if choice not in (AUTO, ALL, FILES, FIRST) and not choice.startswith(ONE):
        raise SpecError(
            _("{value!r} is not a choice of people.", value=choice),
            hint=_("Known: all, files, first, one:NAME."),
        )


def names_by_file(paths: Sequence[Path], choice: str) -> dict[str, str]:
    """File → the person whose labels it holds, if all of its labels are by one person.

    Those are files of an archive that are named after members, unless their names are splits.
    """
    if choice == FILES:
        return {str(path): path.stem for path in paths}
    if import_choice.suggested_splits(paths):
        return {}
    return {str(path): name for path in paths if (name := archives.named_after(path))}


def chosen(staged: Staged, choice: str) -> dict[int, str] | None:
    """Number of each person whose labels are imported → name. None: one version of each document.

    Raises SpecError if nobody has the chosen name, ImportFailed for too many people.
    """
    if choice == FIRST or not staged.people or (choice == AUTO and not staged.shared):
        return None
    names = {person.n: person.name for person in staged.people}
    if choice.startswith(ONE):
        name = " ".join(choice.removeprefix(ONE).split())
        names = {n: other for n, other in names.items() if other == name}
        if not names:
            raise SpecError(
                _("The files hold no labels of {name!r}.", name=name),
                hint=_("People: {names}", names=listed(_counts(staged))),
            )
    if len(names) > MOST_PEOPLE:
        raise ImportFailed(
            ngettext(
                "The files name {n:,} annotator, more than {most:,}.",
                "The files name {n:,} annotators, more than {most:,}.",
                len(names),
                most=MOST_PEOPLE,
            ),
            hint=_("Import one version of each document (--people first)."),
        )
    return names


def annotators(
    project: Project, staged: Staged, names: Mapping[int, str] | None
) -> dict[int, int] | None:
    """Number of each person → annotator of that name, who is added if necessary. Within an edit."""
    if names is None:
        return None
    ids = {person.name: person.id for person in people.every(project)}
    if CURATED in names.values():
        ids[CURATED] = (adjudication.gold_person(project) or people.add_gold(project)).id
    return {n: ids.get(name) or store.add(project.db, name) for n, name in names.items()}


def set_gold(project: Project, targets: Targets, labelled: set[int]) -> list[str]:
    """Choose whose labels are gold in layers that are new or had no labels. Within an edit.

    It is whoever labelled most documents; of equals the curated labels, else the present choice.
    labelled: layers that had labels. Returns a sentence for each layer whose gold changes.
    """
    db = project.db
    before, counts = labels.gold(db), store.submitted(db)
    names = {person.id: person.name for person in people.every(project)}
    curated = adjudication.gold_person(project)
    sentences = []
    for layer_id in sorted({*targets.layers.values()} - labelled):
        now = before[layer_id]
        ranks = {
            who: (n, curated is not None and who == curated.id, who == now, -who)
            for (layer, who), n in counts.items()
            if layer == layer_id
        }
        gold = max(ranks, key=ranks.__getitem__, default=now)
        if gold != now:
            labels.update_layer(db, layer_id, gold=gold)
            name = labels.layer(db, layer_id).name
            sentences.append(_("Gold of {layer} is by {name}.", layer=name, name=names[gold]))
    return sentences


def documents_of(staged: Staged, names: Mapping[int, str]) -> dict[str, int]:
    """Name → number of documents of the people whose labels were imported."""
    return {person.name: person.documents for person in staged.people if person.n in names}


def listed(counts: Iterable[tuple[str, int]]) -> str:
    """“Ada (120), Bob (118)”, at most ten people."""
    parts = [f"{_isolated(name)} ({n:,})" for name, n in counts]
    return ", ".join(parts[:_LISTED]) + (", …" if len(parts) > _LISTED else "")


def _isolated(name: str) -> str:
    """A name that is written from right to left keeps its number on its right side."""
    is_rtl = any(unicodedata.bidirectional(char) in ("R", "AL") for char in name)
    return f"\u2068{name}\u2069" if is_rtl else name


def _counts(staged: Staged) -> list[tuple[str, int]]:
    return [(person.name, person.documents) for person in staged.people]


def one_version(staged: Staged) -> str:
    """The warning that other versions were left out."""
    return ngettext(
        "{n:,} document has labels of several people ({people}); the curated version or the first "
        "was imported.",
        "{n:,} documents have labels of several people ({people}); the curated version or the "
        "first was imported.",
        staged.shared,
        people=listed(_counts(staged)),
    )


def kept(n: int) -> str:
    """The warning about versions that are in the project."""
    return ngettext(
        "{n:,} version of a document was left out: the person has labels in it already.",
        "{n:,} versions of documents were left out: the people have labels in them already.",
        n,
    )
