"""Random changes of the label set of a project with layers of every kind."""

import json
import random
import re

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.schema import label_changes, label_groups, label_moves, labels
from workbench.operations.transfer import data_export, data_import
from workbench.project.check import check_open
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.schema import migrations
from workbench.text.dataset import Record
from workbench.text.document import Document, with_choices
from workbench.text.labels import LAYER_KINDS
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.rows import row_id
from workbench.text.spans import Span

WORDS = "Ada met Bob in Rome and Eve"
PLACES = ((0, 3), (4, 7), (8, 11), (12, 14), (15, 19), (24, 27))
LAYERS = (  # name, kind, labels, the layer whose spans are connected
    ("topic", "class", "abc", ""),
    ("tone", "class", "de", ""),
    ("tags", "multi", "fgh", ""),
    ("score", "score", "", ""),
    ("names", "span", "ABC", ""),
    ("things", "span", "DE", ""),
    ("pos", "tag", "NV", ""),
    ("more pos", "tag", "P", ""),
    ("links", "relation", "xyz", "names"),
    ("ties", "relation", "uv", "names"),
    ("far", "relation", "w", "things"),
    ("people", "cluster", "mn", ""),
    ("groups", "cluster", "o", ""),
    ("asked", "answer", "", ""),
    ("picked", "choice", "", ""),
    ("better", "preference", "", ""),
    ("summary", "text", "", ""),
)
STEPS = 14


def filled(folder):
    """Create a project with labels in every layer; returns its path."""
    project = Project.create(folder / "p.glossbench")
    for name, kind, names, of in LAYERS:
        options = {"spans": of} if of else None
        labels.add_layer(project, name, kind, labels=tuple(names), options=options)
    draw = random.Random(7)
    with project.edit("Import", bulk=True):
        source = project.source("import", "a.jsonl")
        documents.add(project.db, [record(draw, n) for n in range(4)], source_id=source)
        chosen = Record(with_choices("c", "Who?", ("a", "b")), {}, {"picked": ("2",)})
        documents.add(project.db, [chosen], source_id=source)
    project.close()
    return project.path


def record(draw, number):
    def some(names, most=3):
        """Spans with labels of `names`, no two of which are equal."""
        drawn = {(draw.choice(PLACES), draw.choice(names)) for _ in range(draw.randint(0, most))}
        return tuple(Span(*place, label) for place, label in sorted(drawn))

    def related(spans, names):
        pairs = [(a, b) for a in spans for b in spans if a is not b]
        drawn = {(draw.choice(pairs), draw.choice(names)) for _ in range(3)} if pairs else ()
        return tuple(Relation(label, *pair) for pair, label in sorted(drawn, key=repr))

    names, things = some("ABC", 6), some("DE", 4)
    mentions = [
        Span(*place, label, chain=draw.randint(1, 3))
        for place, label in zip(PLACES, draw.choices("mn", k=5), strict=False)
    ]
    states = {name: draw.choice(("draft", "submitted", "pending")) for name, *_rest in LAYERS[:13]}
    return Record(
        Document(f"k{number}", (("text", WORDS),)),
        {name: state for name, state in states.items() if state != "pending"},
        {"topic": (draw.choice("abc"),), "tags": tuple(draw.sample("fgh", 2))},
        {
            "names": names,
            "things": things,
            "pos": tuple(Span(a, b, draw.choice("NV")) for a, b in PLACES[:3]),
            "people": tuple(mentions),
            "groups": (Span(*PLACES[4], "o", chain=1), Span(*PLACES[5], "o", chain=2)),
        },
        {
            "links": related(names, "xyz"),
            "ties": related(names, "uv"),
            "far": related(things, "w"),
        },
        {"asked": (Question("Who?", ((0, 3),)),)},
        {"score": draw.random()},
        {"summary": "Ada"},
    )


def content(project):
    """Every row that an undo step covers. Sources stay as long as a step names them."""
    read = project.db.reader().execute
    return {
        table: read(f"select * from {table} order by id").fetchall()
        for table in migrations.JOURNALED
        if table != "source"
    }


def a_change(project, draw):
    """One random change. Raises WorkbenchError if it is refused."""
    layers = labels.layers(project)
    layer = draw.choice([layer for layer in layers if layer.labels and not layer.traits.in_choices])
    ids = [row_id(label) for label in layer.labels]
    some = draw.sample(ids, draw.randint(1, len(ids)))
    act = draw.choice(
        ("merge", "move", "move", "move", "split", "parent", "delete", "rename", "order")
    )
    if act == "merge":
        message = label_changes.merge_text(project, some, ids[0])
        return message, label_changes.merge(project, some, ids[0])
    if act == "move":
        others = label_moves.layers_for(project, layer.id)
        if others:
            target = row_id(draw.choice(others))
            return label_moves.move_text(project, some, target), label_moves.move(
                project, some, target
            )
    if act == "split" and (uses := label_changes.uses(project, ids[0])):
        use = draw.choice(uses)
        by_rows = layer.traits.in_text or layer.traits.between_spans
        wanted = {"ids": use.ids} if by_rows else {"document_ids": use.ids}
        label_changes.split(project, ids[0], f"new {draw.randint(0, 9)}", **wanted)
    if act == "parent":
        label_groups.set_parent(project, some[:1], ids[0])
    if act == "delete" and len(ids) > 1:
        labels.delete_labels(project, some[:1])
    if act == "rename":
        labels.rename_label(project, ids[0], f"name {draw.randint(0, 99)}")
    if act == "order":
        labels.move_label(project, ids[0], draw.randint(0, 3))
    return "", None


@pytest.mark.parametrize("seed", range(4))
def test_label_changes_do_no_damage_and_undo_restores_everything(
    copy_of, tmp_path, inline_jobs, seed
):
    assert {kind for _name, kind, *_rest in LAYERS} == set(LAYER_KINDS)
    project = Project.open(copy_of(filled, tmp_path / "p.glossbench"))
    draw, before, done = random.Random(seed), content(project), 0
    history = [before]
    for _step in range(STEPS):
        titles = len(project.history())
        try:
            message, changed = a_change(project, draw)
        except WorkbenchError:
            assert content(project) == history[-1]
            continue
        if message:
            count, dropped = (re.search(words, message) for words in (r"^\d+", r"\d+(?= of them)"))
            assert changed == int(count[0]) - int(dropped[0] if dropped else 0), message
        if len(project.history()) > titles:
            done += 1
            history.append(content(project))

    assert check_open(project) == [] and done >= 4
    assert comes_back(project, inline_jobs, tmp_path)
    for state in history[-2::-1]:
        project.undo()
        assert content(project) == state
    project.close()


def comes_back(project, jobs, folder):
    """Whether the project, in the own format, is imported as it is, up to the order of layers."""
    first, second = folder / "first.jsonl", folder / "second.jsonl"
    data_export.export_data(project, first, format="glossbench")
    other = Project.create(folder / "other.glossbench")
    data_import.import_files(other, jobs, [first])
    data_export.export_data(other, second, format="glossbench")
    other.close()
    (head, *lines), (head_again, *lines_again) = (
        path.read_text().splitlines() for path in (first, second)
    )
    declared, declared_again = (
        sorted(json.loads(line)["layers"], key=lambda layer: layer["name"])
        for line in (head, head_again)
    )
    return (declared, lines) == (declared_again, lines_again)
