"""Train, dev and test: assigned automatically before a training, or in proportions chosen by the
user.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.storage.documents import bulk, documents
from workbench.storage.labels import labels as layers
from workbench.storage.queries import query_values
from workbench.text.columns import Column
from workbench.text.document import SPLITS
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.splits import SplitItem

WRITTEN = 0.7  # fraction of the work before the undo step is completed
NAMED = 5  # maximum number of labels named in a warning


@dataclass(frozen=True)
class SplitOutcome:
    """Number of submitted documents of the layers per split, and how many were newly assigned."""

    train: int
    dev: int
    test: int
    changed: int


# ---------------------------------------------------------------- in chosen proportions


@dataclass(frozen=True)
class SplitChoice:
    """`layers`: their submitted documents are assigned, stratified by the labels of all of them.

    `shares` of train, dev and test sum to 1. With `keep`, documents that have a split keep it;
    otherwise all are reassigned. `ids`: only these documents are assigned; all by default.
    `by`: a field of the metadata: documents with a value of `train_on` are divided into train and
    dev, those with one of `test_on`, by default every other value, are test; "" for none.
    """

    layers: tuple[str, ...]
    seed: int
    shares: Mapping[str, float] = field(
        default_factory=lambda: {"train": 0.8, "dev": 0.1, "test": 0.1}
    )
    keep: bool = True
    ids: frozenset[int] | None = None
    by: str = ""
    train_on: tuple[str, ...] = ()
    test_on: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises SpecError unless a field comes with a value to train on, and other ones to test
        on.
        """
        if not self.by and (self.train_on or self.test_on):
            raise SpecError(_("Choose the metadata field that the values are of."))
        if self.by and not self.train_on:
            raise SpecError(_("Choose a value of {field} to train on.", field=self.by))
        if both := sorted(set(self.train_on) & set(self.test_on)):
            raise SpecError(
                _("{value} is both to train and to test on.", value=", ".join(both)),
                hint=_("Choose different values."),
            )


@dataclass(frozen=True)
class SplitData:
    """Input of `preview_splits`, read once. `documents`: number of documents in the project.
    `values`: of the metadata field `by`, by document id.
    """

    layers: tuple[str, ...]
    items: tuple[SplitItem, ...]
    homes: Mapping[str, str]
    documents: int
    by: str = ""
    values: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelSplits:
    """Number of documents with a label by split; the label is "" for documents without one in the
    layer.
    """

    layer: str
    label: str
    counts: Mapping[str, int]


def columns() -> tuple[Column, ...]:
    """Of a preview: layer, label, and the number of documents in each split."""

    def name(row: LabelSplits) -> str:
        return row.label or _("(no label)")

    def count(split: str) -> Column:
        return Column(term(split), lambda row: row.counts[split], key=split)

    return (
        Column(_("Layer"), lambda row: row.layer, key="layer"),
        Column(_("Label"), lambda row: row.label or None, key="label", display=name),
        *map(count, SPLITS),
    )


@dataclass(frozen=True)
class SplitPreview:
    """The resulting splits.

    `changed` documents change their split, `kept` documents had one and keep it, `left_test`
    documents
    move out of test. `outside` documents are submitted in none of the layers and are not changed.
    """

    counts: Mapping[str, int]
    labels: tuple[LabelSplits, ...]
    changed: int
    kept: int
    left_test: int
    outside: int
    warnings: tuple[str, ...]

    @property
    def rows(self) -> tuple[LabelSplits, ...]:
        """Of all documents, and of each label."""
        return LabelSplits("", _("All documents"), self.counts), *self.labels


def checked_shares(train: float, dev: float, test: float) -> dict[str, float]:
    """Percentages as fractions. Raises SpecError unless they sum to 100 and train is above 0."""
    percent = {"train": train, "dev": dev, "test": test}
    if any(not 0 <= value <= 100 for value in percent.values()):
        raise SpecError(_("Each share must be a percentage between 0 and 100."))
    if abs(sum(percent.values()) - 100) > 0.01:
        raise SpecError(
            _(
                "The shares sum to {sum:g}%; they must sum to 100%.",
                sum=round(sum(percent.values()), 2),
            )
        )
    if not train:
        raise SpecError(_("The share of the train split must be above 0%."))
    return {split: value / 100 for split, value in percent.items()}


def split_layers(project: Project) -> dict[str, int]:
    """Layer names with the number of documents submitted in each, most first."""
    submitted = layers.submitted_counts(project.db)
    known = [(row_id(layer), layer.name) for layer in layers.layers(project.db)]
    ranked = sorted(known, key=lambda item: (-submitted.get(item[0], 0), item[0]))
    return {name: submitted.get(id, 0) for id, name in ranked}


def metadata_fields(project: Project) -> dict[str, tuple[str, ...]]:
    """Metadata fields with several short values → these, in a sample of documents."""
    known = query_values.metadata(project.db)
    return {name: values for name, values in known.items() if len(values) > 1}


def split_data(
    project: Project, layer_names: Sequence[str], field: str = "", *, watch: Watch = QUIET
) -> SplitData:
    """Reads every document, half a second for 60,000: not for the main thread.

    field: of the metadata that decides the splits, "" for none.
    """
    items, homes, total = _items(project, layer_names, {}, watch)
    values = bulk.metadata_values(project.db, field) if field else {}
    return SplitData(tuple(layer_names), tuple(items), homes, total, field, values)


def preview_splits(data: SplitData, choice: SplitChoice, *, watch: Watch = QUIET) -> SplitPreview:
    """The result that `divide` would have. Takes a second for 100,000 documents."""
    data = _of(data, choice)
    assigned = _divided(data, choice, watch.part(0.0, 0.9))
    counts: Counter[str | None] = Counter()
    by_label: dict[tuple[str, str], Counter[str | None]] = {}
    for item in data.items:
        split = assigned.get(item.id, item.split)
        counts[split] += 1
        for pair in item.labels:
            by_label.setdefault(pair, Counter())[split] += 1
    watch.at(1.0)
    had = sum(1 for item in data.items if item.split)
    moved = [item for item in data.items if item.split and item.id in assigned]
    place = {name: number for number, name in enumerate(data.layers)}
    ordered = sorted(
        by_label.items(), key=lambda item: (place[item[0][0]], -item[1].total(), item[0])
    )
    labels = tuple(
        LabelSplits(*pair, {split: some[split] for split in SPLITS}) for pair, some in ordered
    )
    left_test = sum(1 for item in moved if item.split == "test")
    sizes = {split: counts[split] for split in SPLITS}
    return SplitPreview(
        sizes,
        labels,
        len(assigned),
        had - len(moved),
        left_test,
        data.documents - len(data.items),
        (
            *_warnings(sizes, labels, left_test, _one_group(data.items)),
            *_left_alone(data, choice),
        )
        if data.items
        else (),
    )


def divide(
    project: Project, choice: SplitChoice, *, origin: object = None, watch: Watch = QUIET
) -> SplitPreview:
    """Assign the submitted documents of the layers to splits, as one undo step."""
    with project.edit(_("Create splits"), origin=origin, watch=watch.part(WRITTEN, 1.0)):
        data = split_data(project, choice.layers, choice.by, watch=watch.part(0.0, 0.2))
        plan = preview_splits(data, choice, watch=watch.part(0.2, 0.3))
        _write(project, _divided(_of(data, choice), choice, QUIET), watch.part(0.3, WRITTEN))
    return plan


def _of(data: SplitData, choice: SplitChoice) -> SplitData:
    """The data without documents that the choice leaves out; they keep equal texts with them."""
    if choice.ids is None:
        return data
    homes = dict(data.homes)
    for item in data.items:
        if item.id not in choice.ids and item.split and item.group:
            homes[item.group] = item.split if homes.get(item.group) != "test" else "test"
    items = tuple(item for item in data.items if item.id in choice.ids)
    return replace(data, items=items, homes=homes)


def _divided(data: SplitData, choice: SplitChoice, watch: Watch) -> dict[int, str]:
    from workbench.text import splits

    choice.check()
    divide = splits.divide
    if choice.by:
        divide = partial(
            splits.by_value,
            values=data.values,
            train_on=choice.train_on,
            test_on=choice.test_on,
        )
    return divide(
        data.items,
        seed=choice.seed,
        shares=choice.shares,
        keep=choice.keep,
        homes=data.homes,
        watch=watch,
    )


def _left_alone(data: SplitData, choice: SplitChoice) -> list[str]:
    """A warning if the rule by metadata says nothing about some documents."""
    if not choice.by:
        return []
    named = {*choice.train_on, *choice.test_on}
    values = (data.values.get(item.id) for item in data.items)
    count = sum(value is None or (bool(choice.test_on) and value not in named) for value in values)
    if not count:
        return []
    return [
        ngettext(
            "{n:,} document has no such value of {field} and keeps its split.",
            "{n:,} documents have no such value of {field} and keep their split.",
            count,
            field=choice.by,
        )
    ]


def _one_group(items: Sequence[SplitItem]) -> bool:
    """Whether all documents must stay in the same split."""
    groups = {item.group for item in items}
    return len(groups) == 1 and groups != {""}


def _warnings(
    counts: Mapping[str, int], labels: Sequence[LabelSplits], left_test: int, one_group: bool
) -> tuple[str, ...]:
    messages = []
    if left_test:
        message = ngettext(
            "{n:,} document moves out of test: test scores of earlier runs cannot be compared with"
            " those of later ones, and a later run may train on it.",
            "{n:,} documents move out of test: test scores of earlier runs cannot be compared with"
            " those of later ones, and a later run may train on them.",
            left_test,
        )
        messages.append(message)
    if not counts["dev"] and one_group:
        messages.append(
            _(
                "No document is in dev: all are of one group, which stays together. A training "
                "needs documents in dev: set their split, or import more groups."
            )
        )
    elif not counts["dev"]:
        messages.append(
            _("No document is in dev. The next training moves 10% of its training data there.")
        )
    never = [label.label for label in labels if label.label and not label.counts["train"]]
    if never:
        messages.append(_("Labels without training documents: {labels}.", labels=_few(never)))
    for split in ("dev", "test"):
        rare = [label.label for label in labels if label.label and not label.counts[split]]
        if rare and counts[split]:
            message = _("Labels without documents in {split}: {labels}.")
            messages.append(message.format(split=term(split), labels=_few(rare)))
    return tuple(messages)


def _few(names: Sequence[str]) -> str:
    """A list, shortened with a count if it is long."""
    listed = ", ".join(names[:NAMED])
    if len(names) <= NAMED:
        return listed
    return ngettext(
        "{labels} and {n} more label",
        "{labels} and {n} more labels",
        len(names) - NAMED,
        labels=listed,
    )


# ---------------------------------------------------------------- automatic splits


def make_splits(
    project: Project,
    layer_name: str | None = None,
    seed: int | None = None,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> SplitOutcome:
    """Split the submitted documents: 80/10/10 at first, later documents go to train.

    A missing dev split is taken from train, never from test. Processed layer by layer: the first
    split
    of a layer is that of the documents submitted in it. Without a layer: all layers, those with
    most
    submitted documents first. Seeded by the project unless `seed` is given, stratified by class;
    document groups and equal texts stay together.
    """
    assigned, placed = _assign(project, layer_name, seed)
    watch.at(0.3)
    if assigned:
        with project.edit(_("Create splits"), origin=origin, watch=watch.part(WRITTEN, 1.0)):
            _write(project, assigned, watch.part(0.3, WRITTEN))
    counts = Counter(placed.values())
    return SplitOutcome(counts["train"], counts["dev"], counts["test"], len(assigned))


def planned_splits(project: Project, layer_name: str) -> dict[int, str]:
    """The splits that `make_splits` would assign, by document id; makes no changes."""
    return _assign(project, layer_name, None)[0]


def _assign(
    project: Project, layer_name: str | None, seed: int | None
) -> tuple[dict[int, str], dict[int, str | None]]:
    """(new splits, the splits of all submitted documents afterwards), by document id."""
    from workbench.text import splits

    assigned: dict[int, str] = {}
    placed: dict[int, str | None] = {}
    for name in (layer_name,) if layer_name is not None else split_layers(project):
        items, homes, _total = _items(project, [name], assigned)
        assigned.update(
            splits.assign(items, seed=project.seed if seed is None else seed, homes=homes)
        )
        placed.update({item.id: assigned.get(item.id, item.split) for item in items})
    return assigned, placed


# ---------------------------------------------------------------- folds


def folds(
    project: Project, layer_name: str, ids: Collection[int], count: int, *, seed: int
) -> list[list[int]]:
    """The ids of each of `count` folds of submitted documents of a layer, see `text.splits.folds`.

    Documents stay together as in splits: those of a group, and equal texts.
    """
    from workbench.text import splits

    items, _homes, _total = _items(project, [layer_name], {})
    chosen = frozenset(ids)
    return splits.folds([item for item in items if item.id in chosen], count, seed=seed)


# ---------------------------------------------------------------- common


def _write(project: Project, assigned: Mapping[int, str], watch: Watch) -> None:
    for place, split in enumerate(SPLITS):
        ids = [id for id, its in assigned.items() if its == split]
        part = watch.part(place / len(SPLITS), (place + 1) / len(SPLITS))
        documents.set_split(project.db, ids, split, watch=part)


def _items(
    project: Project, layer_names: Sequence[str], assigned: Mapping[int, str], watch: Watch = QUIET
) -> tuple[list[SplitItem], dict[str, str], int]:
    """The layers' documents with the splits that `found` assigns, considering other documents of
    the
    same group in a split, and the number of documents in the project.
    """
    from workbench.text.splits import SplitItem

    rows = bulk.split_rows(project.db, layer_names)
    watch.at(0.2)
    labels = bulk.split_labels(project.db, layer_names)
    watch.at(0.5)
    mine = {row.id for row in rows}
    every = bulk.split_keys(project.db)
    others = [
        (split, group, text_hash)
        for id, old, group, text_hash in every
        if id not in mine and (split := assigned.get(id, old))
    ]
    watch.at(0.7)
    texts = Counter(
        [row.text_hash for row in rows] + [text_hash for _split, _group, text_hash in others]
    )
    homes: dict[str, str] = {}
    for split, group, text_hash in others:
        # Of a group in several splits, test wins: it must stay unseen.
        for key in (f"text:{text_hash}", *([f"group:{group}"] if group else ())):
            homes[key] = split if homes.get(key) != "test" else "test"
    items = [
        SplitItem(
            row.id,
            assigned.get(row.id, row.split),
            labels.get(row.id, ()),
            _tie(row.group, row.text_hash, texts),
        )
        for row in rows
    ]
    return items, homes, len(every)


def _tie(group: str | None, text_hash: str, texts: Mapping[str, int]) -> str:
    """Key of the documents that must stay together: the group, else equal texts.

    Equal texts in train and test would inflate the score.
    """
    return f"group:{group}" if group else f"text:{text_hash}" if texts[text_hash] > 1 else ""
