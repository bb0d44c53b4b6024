"""The documents of a project: in and out, filter, bulk acts, splits, what is there."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.operations.data_export import ExportOutcome, export_data, formats, what_is_lost
from workbench.operations.exchange import (
    ImportHandle,
    ImportOutcome,
    SkippedRecord,
    import_files,
)
from workbench.operations.import_preview import Preview, PreviewRow, preview, refused
from workbench.operations.import_splits import BY_NAME
from workbench.operations.import_splits import described as described_splits
from workbench.operations.import_splits import suggested as suggested_splits
from workbench.operations.sample import create_sample
from workbench.storage import annotations, bulk, documents, integrity, runs, states
from workbench.storage import labels as layers
from workbench.storage.documents import Counts, DocumentRow, Filter
from workbench.storage.ordering import Order
from workbench.text.document import SPLITS

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.splits import Item

__all__ = [
    "BY_NAME", "Counts", "DocumentRow", "ExportOutcome", "Filter", "ImportHandle", "Order", "ImportOutcome", "Preview", "PreviewRow", "SkippedRecord", "SplitOutcome",
    "any_documents", "check", "counts", "create_sample", "delete_documents", "described_splits", "export_data", "filter_ids", "formats", "import_files", "info", "labels",
    "make_splits", "preview", "refused", "rows", "set_class", "set_split", "set_state", "suggested_splits", "what_is_lost",
]  # fmt: skip

STATES = ("pending", "draft", "submitted", "discarded")


# ---------------------------------------------------------------- reading


def filter_ids(
    project: Project,
    wanted: Filter,
    order: Order | None = None,
    layer_ids: Sequence[int] | None = None,
) -> array:
    """Ids of the documents that pass, in order; array('q'). The order is that of these layers.

    A million take about two seconds: not on the main thread.
    """
    return documents.ids(project.db, wanted, order, layer_ids)


def rows(
    project: Project,
    ids: Iterable[int],
    layer_ids: Sequence[int] | None = None,
    *,
    found_by: str = "",
) -> tuple[DocumentRow, ...]:
    """What a table shows of the documents; labels and states are those of the layers (None: all).

    With `found_by` the texts are shown around the first word of it.
    """
    return documents.rows(project.db, ids, layer_ids, found_by=found_by)


def any_documents(project: Project) -> bool:
    return documents.any_at_all(project.db)


def counts(project: Project, layer_ids: Sequence[int] | None = None) -> Counts:
    """Of all documents; states, spans and suggestions are those of the layers (None: all)."""
    return documents.counts(project.db, layer_ids)


def check(project: Project) -> tuple[str, ...]:
    """What is damaged in the project file, as sentences; empty if nothing is."""
    return tuple(integrity.problems(project.db))


def info(project: Project) -> dict:
    """What `project info` prints: documents, layers, splits, states, runs.

    `states` has each document once, in its highest state; a layer's `states` the documents it is for.
    """
    found = documents.counts(project.db)
    highest = states.highest_counts(project.db)
    return {
        "documents": found.documents,
        "layers": [
            {
                "layer": one.name,
                "kind": one.kind,
                "labels": len(one.labels),
                "states": dict(states.counts(project.db, [one.id]).states),
            }
            for one in layers.layers(project.db)
        ],
        "splits": {split: found.splits.get(split, 0) for split in (*SPLITS, "none")},
        "states": {state: highest[state] for state in STATES},
        "runs": [_run(one) for one in runs.all(project.db)],
    }


def _run(run: runs.Run) -> dict:
    spec = run.spec or {}
    return {
        "name": run.name,
        "status": run.status,
        "task": spec.get("task", run.kind),
        "model": spec.get("model_name") or spec.get("model", ""),
        "scores": run.scores or {},
    }


def labels(project: Project) -> list[dict]:
    """Layers with their labels; count = marks and spans with that label."""
    count = layers.counts(project.db)
    return [
        {
            "layer": layer.name,
            "kind": layer.kind,
            "labels": [
                {
                    "name": one.name,
                    "key": one.key,
                    "colour": one.colour,
                    "count": count.get(one.id, 0),
                }
                for one in layer.labels
            ],
        }
        for layer in layers.layers(project.db)
    ]


# ---------------------------------------------------------------- bulk acts
# `watch` hears how far each is; called off, it raises Cancelled and leaves everything as it was, with no step in the history.

STORED = 0.7  # the share of an act after which only the end of its undo step is left


def _title(act: str, ids: Sequence[int]) -> str:
    return (
        _("{act} of {n:,} documents").format(act=act, n=len(ids))
        if len(ids) != 1
        else _("{act} of a document").format(act=act)
    )


def delete_documents(
    project: Project, ids: Sequence[int], *, origin: object = None, watch: Watch = QUIET
) -> int:
    """With their labels. Gives how many were deleted."""
    title = (
        _("Delete {n:,} documents").format(n=len(ids)) if len(ids) != 1 else _("Delete a document")
    )
    with project.edit(title, origin=origin, watch=watch.part(STORED, 1.0)):
        return documents.delete(project.db, ids, watch=watch.part(0.0, STORED))


def set_split(
    project: Project,
    ids: Sequence[int],
    split: str | None,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """`split`: train, dev, test or None. Gives how many documents changed."""
    if split not in (None, *SPLITS):
        raise SpecError(_("There is no split {split!r}.").format(split=split))
    with project.edit(_title(_("Set split"), ids), origin=origin, watch=watch.part(STORED, 1.0)):
        return documents.set_split(project.db, ids, split, watch=watch.part(0.0, STORED))


def set_class(
    project: Project,
    ids: Sequence[int],
    layer_id: int,
    label_id: int | None,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Give documents one class of a layer, or take it away (None). Pending ones become drafts; pairs and single texts are told apart.

    Gives how many documents were changed.
    """
    layer = layers.layer(project.db, layer_id)
    if layer.kind not in ("class", "multi"):
        raise SpecError(_("Layer {name} holds no classes.").format(name=layer.name))
    with project.edit(_title(_("Set class"), ids), origin=origin, watch=watch.part(STORED, 1.0)):
        fitting = bulk.with_texts(project.db, ids, layer.texts)
        who = {"annotator_id": project.annotator_id, "source_id": project.source("person")}
        return bulk.set_class(
            project.db, fitting, layer_id, label_id, **who, watch=watch.part(0.0, STORED)
        )


def set_state(
    project: Project,
    ids: Sequence[int],
    layer_id: int,
    state: str,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Set the state of documents in a layer.

    Documents without a class cannot be submitted in a class layer: they become drafts. Gives how many
    documents were changed.
    """
    if state not in STATES:
        raise SpecError(_("There is no state {state!r}.").format(state=state))
    layer = layers.layer(project.db, layer_id)
    title, body = _title(_("Set state"), ids), watch.part(0.0, STORED)
    with project.edit(title, origin=origin, watch=watch.part(STORED, 1.0)):
        fitting, bare = bulk.with_texts(project.db, ids, layer.texts), []
        if state == "submitted" and layer.kind == "class":  # in a multi layer, none is an answer
            bare = bulk.without_class(project.db, fitting, layer_id, project.annotator_id)
        share = len(bare) / max(1, len(fitting))
        key = (layer_id, project.annotator_id)
        annotations.set_state(project.db, bare, *key, "draft", watch=body.part(0.0, share))
        rest = sorted(set(fitting) - set(bare))
        return annotations.set_state(project.db, rest, *key, state, watch=body.part(share, 1.0))


# ---------------------------------------------------------------- splits


@dataclass(frozen=True)
class SplitOutcome:
    """How many submitted documents of the layer are in each split now, and how many were put there by this act."""

    train: int
    dev: int
    test: int
    changed: int


def make_splits(
    project: Project,
    layer_name: str | None = None,
    seed: int | None = None,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> SplitOutcome:
    """Split the submitted documents: 80/10/10 at first, later documents go to train.

    A missing dev split is cut from train, never from test. Read layer by layer: the first split of
    a layer is that of the documents submitted in it. Without a layer: all of them, most submitted
    first. Seeded by the project unless `seed` is given, stratified by class; document groups and
    equal texts stay together.
    """
    found, placed = _assign(project, layer_name, seed)
    watch.at(0.3)
    if found:
        with project.edit(_("Make splits"), origin=origin):
            for place, split in enumerate(SPLITS):
                if ids := [id for id, its in found.items() if its == split]:
                    documents.set_split(
                        project.db,
                        ids,
                        split,
                        watch=watch.part(0.6 + 0.1 * place, 0.7 + 0.1 * place),
                    )
    counts = Counter(placed.values())
    return SplitOutcome(counts["train"], counts["dev"], counts["test"], len(found))


def planned_splits(project: Project, layer_name: str) -> dict[int, str]:
    """The splits that `make_splits` would assign, by document id; nothing is written."""
    return _assign(project, layer_name, None)[0]


def _assign(
    project: Project, layer_name: str | None, seed: int | None
) -> tuple[dict[int, str], dict[int, str | None]]:
    """(new splits, the splits of all submitted documents afterwards), by document id."""
    from workbench.text import splits

    found: dict[int, str] = {}
    placed: dict[int, str | None] = {}
    for name in (layer_name,) if layer_name is not None else _by_submitted(project):
        items, homes = _split_items(project, name, found)
        found.update(splits.assign(items, seed=project.seed if seed is None else seed, homes=homes))
        placed.update({item.id: found.get(item.id, item.split) for item in items})
    return found, placed


def _by_submitted(project: Project) -> list[str]:
    submitted = layers.submitted_counts(project.db)
    return [
        one.name
        for one in sorted(
            layers.layers(project.db), key=lambda one: (-submitted.get(one.id, 0), one.id)
        )
    ]


def _split_items(
    project: Project, layer_name: str, found: Mapping[int, str]
) -> tuple[list[Item], dict[str, str]]:
    """The layer's documents with the splits that `found` gives them, and where groups are of which others are in a split."""
    from workbench.text.splits import Item

    rows = bulk.split_rows(project.db, layer_name)
    mine = {row.id for row in rows}
    every = (
        (id, found.get(id, split), group, text_hash)
        for id, split, group, text_hash in bulk.split_keys(project.db)
    )
    others = [
        (split, group, text_hash)
        for id, split, group, text_hash in every
        if split and id not in mine
    ]
    texts = Counter(
        [row.text_hash for row in rows] + [text_hash for _split, _group, text_hash in others]
    )
    homes: dict[str, str] = {}
    for split, group, text_hash in others:
        # Of a group that lies in several splits, test wins: it must stay unseen.
        for key in (f"text:{text_hash}", *([f"group:{group}"] if group else ())):
            homes[key] = split if homes.get(key) != "test" else "test"
    return [
        Item(
            row.id, found.get(row.id, row.split), row.stratum, _tie(row.group, row.text_hash, texts)
        )
        for row in rows
    ], homes


def _tie(group: str | None, text_hash: str, texts: Mapping[str, int]) -> str:
    """What a document must stay together with: its group, else its twins. Equal texts in train and test would flatter the score."""
    return f"group:{group}" if group else f"text:{text_hash}" if texts[text_hash] > 1 else ""
