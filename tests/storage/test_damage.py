"""`project check` against damage such as another program, or a person with sqlite3, can do."""

import random
import shutil
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from workbench.base.errors import ProjectError
from workbench.operations.annotation import annotate, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.documents import corpus, splits
from workbench.operations.schema import labels as schema
from workbench.project.check import check, check_open
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.runs import prompts, runs
from workbench.text.dataset import Record
from workbench.text.document import Document, with_choices
from workbench.text.spans import Span

DAMAGES = 320
STORED_INDEX = ("search_data", "search_idx")
TEXTS = ("Ada met Bob in Rīga \U0001f600.", "Nothing here \ud800.", "地下鉄が遅れた。", "x" * 300)


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """A project file with rows in every table that the program writes, and a history."""
    path = tmp_path_factory.mktemp("rich") / "rich.glossbench"
    with closing(Project.create(path)) as project:
        fill(project)
        assert check_open(project) == []
    return path


def fill(project):
    topic = schema.add_layer(project, "topic", "class", labels=["sport", "news"])
    names = schema.add_layer(project, "names", "span", labels=["PER", "LOC"])
    schema.add_layer(project, "pairs", "class", texts=2, labels=["same", "other"])
    schema.add_layer(project, "answer", "choice", labels=["1", "2"])
    with project.edit("Import", bulk=True):
        source = project.source("import", "a.jsonl")
        documents.add(project.db, list(records()), source_id=source)
    labels = {label.name: label.id for layer in schema.layers(project) for label in layer.labels}
    with project.write():
        run = runs.add(project.db, "first", layer_id=topic, status="done", spec={"task": "c"})
        runs.save_predictions(
            project.db,
            run.id,
            [(id, documents.get(project.db, id).text_hash, {"label": "news"}) for id in (1, 2)],
        )
    rows = [NewSuggestion(4, topic, labels["news"], score=0.7)]
    rows += [NewSuggestion(4, names, labels["PER"], 0, 3, score=1 / 3)]
    suggestion_edits.add_suggestions(project, run.id, rows, title="Suggest")
    with project.edit("Prompt"):
        prompts.add(project.db, "ask", "Is {{text}} sport?")
    annotate.set_class(project, 4, labels["sport"])
    annotate.add_span(project, 4, 1, 4, labels["LOC"])
    corpus.set_split(project, [4, 5], "test")
    corpus.delete_documents(project, [6])
    annotate.set_class(project, 5, labels["news"])
    project.undo()


def records():
    spans = (Span(0, 3, "PER"), Span(15, 19, "LOC", score=0.25))
    for number, text in enumerate(TEXTS * 2):
        document = Document(
            f"k{number}",
            (("text", text),),
            ("train", "dev", None)[number % 3],
            "group" if number % 2 else None,
            {"page": number, "names": ["a", None]},
            {"text": ((0, 3), (4, 7))},
        )
        yield Record(
            document,
            {"topic": "submitted", "names": "draft"},
            {"topic": ("sport",)},
            {"names": spans if number % 4 == 0 else ()},
        )
    pair = Document("pair", (("text", "One."), ("text_b", "Two.")))
    yield Record(pair, {"pairs": "submitted"}, {"pairs": ("same",)})
    chosen = with_choices("choices", "Ada", ("a tram", "a person"))
    yield Record(chosen, {"answer": "submitted"}, {"answer": ("2",)})


# ---------------------------------------------------------------- damage


def content(conn):
    """All rows of all tables, as far as they mean anything.

    Left out: when a migration ran, a higher counter of ids than necessary, what the history keeps
    in columns that the operation of the row does not use, and how the full-text index is stored.
    """
    result = {}
    tables = conn.execute("select name, sql from sqlite_master where type = 'table'").fetchall()
    for table, sql in tables:
        if sql and "virtual table" not in sql.lower() and table not in STORED_INDEX:
            result[table] = sorted(conn.execute(f'select * from "{table}"').fetchall(), key=repr)
    result["search"] = words(conn)
    result["_sqlite_migrations"] = [row[2] for row in result["_sqlite_migrations"]]
    result["sqlite_sequence"] = [
        (name, seq if type(seq) is not int else min(seq, highest(conn, name)))
        for name, seq in result["sqlite_sequence"]
    ]
    result["journal_row"] = [used(conn, row) for row in result["journal_row"]]
    return result


def highest(conn, table):
    if table not in ("document", "run"):
        return 0
    return conn.execute(f"select ifnull(max(id), 0) from {table}").fetchone()[0]


def words(conn):
    """What the full-text index answers, or that it cannot."""
    try:
        conn.execute("create virtual table temp.v using fts5vocab('main', 'search', 'instance')")
        return conn.execute("select * from temp.v").fetchall()
    except sqlite3.DatabaseError as error:
        return str(error)
    finally:
        conn.execute("drop table if exists temp.v")


def used(conn, row):
    op, table = row[3], row[2]
    if op in ("delete", "range"):
        return row[:7]
    return row[: 6 + len(conn.execute("select * from pragma_table_info(?)", (table,)).fetchall())]


def spoil(conn, chance):
    """One random change of a value, or a row deleted or copied. Returns what was done."""
    tables = [
        name
        for (name,) in conn.execute(
            "select name from sqlite_master where type = 'table' and sql not like '%virtual%'"
        )
    ]
    table = chance.choice(tables)
    rows = conn.execute(f'select * from "{table}"').fetchall()
    if not rows:
        return None
    columns = [row[1] for row in conn.execute(f'pragma table_info("{table}")')]
    row = chance.choice(rows)
    where = " and ".join(f'"{name}" is ?' for name in columns)
    act = chance.random()
    if act < 0.15:
        conn.execute(f'delete from "{table}" where {where}', row)
        return table, "delete", row
    if act < 0.3:
        copy = (max(other[0] for other in rows) + 1 if isinstance(row[0], int) else "x", *row[1:])
        marks = ", ".join("?" * len(row))
        conn.execute(f'insert into "{table}" values({marks})', copy)
        return table, "insert", copy
    place = chance.randrange(len(columns))
    value = other_value(chance, row[place], [row[place] for row in rows])
    conn.execute(f'update "{table}" set "{columns[place]}" = ? where {where}', (value, *row))
    return table, columns[place], row[place], value


def other_value(chance, value, others):
    if chance.random() < 0.3:
        return chance.choice([None, 0, -1, "", "x", b"\xff", 10**6, 0.5, *others])
    if isinstance(value, (int, float)):
        return value + chance.choice([-1, 1, 2])
    if isinstance(value, str) and value:
        place = chance.randrange(len(value))
        flipped = chr(ord(value[place]) ^ (1 << chance.randrange(5)))
        return value[:place] + flipped + value[place + 1 :]
    if isinstance(value, bytes) and value:
        place = chance.randrange(len(value))
        return value[:place] + bytes([value[place] ^ 1 << chance.randrange(8)]) + value[place + 1 :]
    return chance.choice([None, 0, 1, "x", *others])


@pytest.fixture(scope="module")
def sound(rich):
    """The content of the file."""
    with closing(sqlite3.connect(rich)) as conn:
        return content(conn)


def damaged_copy(rich, sound, path, chance):
    """A copy of the file with one damage that changes what it means; says which."""
    while True:
        shutil.copyfile(rich, path)
        with closing(sqlite3.connect(path, isolation_level=None)) as conn:
            conn.execute("pragma ignore_check_constraints = on")
            conn.execute("pragma synchronous = off")
            (trigger,) = conn.execute(
                "select sql from sqlite_master where type = 'trigger'"
            ).fetchone()
            conn.execute("drop trigger body_is_fixed")
            try:
                done = spoil(conn, chance)
            except (sqlite3.IntegrityError, UnicodeEncodeError):
                continue  # SQLite itself refuses it
            conn.execute(trigger)
            if done and content(conn) != sound:
                return done


def test_damage_that_changes_the_meaning_of_a_project_is_reported(rich, sound, tmp_path):
    chance, unseen = random.Random(20240701), []
    path = tmp_path / "p.glossbench"

    for _ in range(DAMAGES):
        done = damaged_copy(rich, sound, path, chance)
        if not check(path):
            unseen.append(done)

    assert len(unseen) <= DAMAGES // 100, unseen


def test_flipped_bytes_of_the_file_are_reported(rich, sound, tmp_path):
    chance, unseen = random.Random(7), []
    path, whole = tmp_path / "p.glossbench", rich.read_bytes()

    for _ in range(150):
        place = chance.randrange(100, len(whole))
        path.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1 << chance.randrange(8)]) + whole[place + 1 :]
        )
        if changed(sound, path) and not reported(path):
            unseen.append(place)

    assert not unseen


def changed(sound, path):
    try:
        with closing(sqlite3.connect(path)) as conn:
            return content(conn) != sound
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return True


def reported(path):
    try:
        return bool(check(path))
    except ProjectError:
        return True


def test_a_sound_project_gives_no_alarm_whatever_was_done_with_it(rich, tmp_path):
    path = tmp_path / "p.glossbench"
    shutil.copyfile(rich, path)
    with closing(Project.open(path)) as project:
        chance = random.Random(3)
        for _ in range(40):
            random_act(project, chance)
            assert check_open(project) == []
    assert check(path) == []


def random_act(project, chance):
    layers = {layer.name: layer for layer in schema.layers(project)}
    label, last = chance.choice(layers["topic"].labels).id, layers["pairs"].labels[-1]
    ids = list(corpus.filter_ids(project, corpus.Filter(texts=1)))
    some = chance.sample(ids, min(len(ids), 3))
    chance.choice(
        [
            lambda: annotate.set_class(project, some[0], label),
            lambda: annotate.add_span(project, some[0], 0, 3, layers["names"].labels[0].id),
            lambda: annotate.submit(project, some[0], [layers["topic"].id]),
            lambda: corpus.set_class(project, some, layers["topic"].id, label),
            lambda: corpus.set_state(project, some, layers["names"].id, "discarded"),
            lambda: corpus.set_split(project, some, chance.choice(["train", "dev", None])),
            lambda: splits.make_splits(project, seed=chance.randrange(9)),
            lambda: corpus.delete_documents(project, some[:1]) if len(ids) > 4 else None,
            lambda: schema.add_label(project, layers["names"].id, f"L{chance.random()}"),
            lambda: schema.rename_label(project, last.id, f"N{chance.random()}"),
            lambda: import_some(project, chance),
            lambda: run_some(project, ids),
            *[project.undo] * 4,
            *[project.redo] * 2,
        ]
    )()


def import_some(project, chance):
    with project.edit("Import", bulk=True):
        source = project.source("import", "b.jsonl")
        documents.add(project.db, chance.sample(list(records()), 3), source_id=source)


def run_some(project, ids):
    with project.write():
        run = runs.add(project.db, runs.free_name(project.db, "run"), status="done")
        rows = [(id, documents.get(project.db, id).text_hash, {}) for id in ids]
        runs.save_predictions(project.db, run.id, rows)
        runs.save_predictions(project.db, run.id, rows[:2])
        runs.update(project.db, run.id, status="stopped", scores={"dev": {"f1": 0.5}})


@pytest.mark.parametrize(
    "error",
    [
        TypeError("cannot unpack non-iterable NoneType object"),
        sqlite3.OperationalError("user-defined function raised exception"),
        ProjectError("SQLite reported an error in p: user-defined function raised exception."),
    ],
)
def test_a_value_that_ends_a_check_is_told_without_words_of_python(error):
    def check(_conn):
        yield "a problem"
        raise error

    found = list(integrity._guarded(SimpleNamespace(path="p.glossbench"), check))

    said = "The project file p.glossbench is damaged: it contains values that cannot be read."
    assert found == ["a problem", said]


def test_many_damaged_places_are_one_problem():
    conn = sqlite3.connect(":memory:")
    report = "*** in database main ***\nOn tree page 9 cell 2: Offset 0\nOn tree page 9 cell 1"

    class Damaged:
        def execute(self, _statement):
            return conn.execute("select ? union all select 'row 3 missing'", (report,))

    (problem,) = integrity._file(Damaged())

    assert "3 places or more. The first: On tree page 9 cell 2: Offset 0." in problem
