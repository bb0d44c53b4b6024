"""Agreement of people and runs in a project, against scikit-learn and seqeval."""

from contextlib import closing

import pytest
from sklearn.metrics import cohen_kappa_score

from workbench.base.errors import SpecError
from workbench.operations.people import agreement, people
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.storage.staging.record_writer import RecordWriter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import ClassScores, FromReply, Prediction
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.spans import Span

TEXT = "Ada met Bob in Rome."
ADA, BOB, ROME = (0, 3), (8, 11), (15, 19)
NAMES = ("me", "Ben", "Cleo")


class Team:
    """A project with every kind of layer; `say` gives what each person says of each document."""

    def __init__(self, path):
        self.project = project = Project.create(path)
        for name, kind in (
            ("topic", "class"), ("topics", "multi"), ("names", "span"), ("links", "relation"),
            ("mentions", "cluster"), ("size", "score"), ("summary", "text"), ("asked", "answer"),
        ):  # fmt: skip
            names = [] if kind in ("score", "text", "answer") else ["a", "b"]
            labels.add_layer(project, name, kind, labels=names)
        self.persons = [people.current(project), *(people.add(project, n) for n in NAMES[1:])]

    def say(self, layer, part, rows):
        """rows: for each document what each person says, None for nothing."""
        with self.project.edit("Import"):
            source = self.project.source("import")
            records = [Record(Document(f"{layer}{n}", (("text", TEXT),))) for n in range(len(rows))]
            ids = documents.add(self.project.db, records, source_id=source)
            for at, person in enumerate(self.persons):
                writer = RecordWriter(self.project.db, source, person.id)
                for id, document, row in zip(ids, records, rows, strict=True):
                    if at < len(row) and row[at] is not None:
                        said = Record(
                            document.document, {layer: "submitted"}, **{part: {layer: row[at]}}
                        )
                        if part == "relations":
                            ends = tuple({e for r in row[at] for e in (r.from_span, r.to_span)})
                            said = Record(
                                document.document, {layer: "submitted"}, spans={"names": ends},
                                relations={layer: row[at]},
                            )  # fmt: skip
                        writer.write_labels([(id, said)])
        return ids

    def compare(self, layer, count=2, **more):
        layer = labels.layer_named(self.project, layer)
        chosen = agreement.annotators(self.project, layer)[:count]
        return agreement.compare(self.project, layer, chosen, rounds=50, **more)


@pytest.fixture
def team(tmp_path):
    team = Team(tmp_path / "p.glossbench")
    with closing(team.project):
        yield team


def test_classes_of_two(team):
    rows = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "b"), ("a", "a"), ("b", "a"), ("a", None)]
    ids = team.say("topic", "marks", [[x and (x,) for x in row] for row in rows])

    result = team.compare("topic")

    assert [(a.name, a.documents, a.is_gold) for a in result.annotators] == [
        ("me", 7, True),
        ("Ben", 6, False),
    ]
    assert result.documents == tuple(ids[:6]) and result.units == 12
    left, right = zip(*rows[:6], strict=True)
    kappa = cohen_kappa_score(left, right)
    assert result.value("kappa").value == pytest.approx(kappa)
    assert result.pairs[0, 1]["kappa"] == pytest.approx(kappa)
    assert result.main == "observed_agreement" and result.value(result.main).value == 4 / 6
    assert result.value(result.main).low < 4 / 6 < result.value(result.main).high
    assert result.confusions[0, 1].counts.tolist() == [[2, 1], [1, 2]]
    assert result.confusions[0, 1].documents("a", "b") == (1,)
    assert [(row.key, row.versions) for row in result.differences] == [
        ("topic1", ("a", "b")),
        ("topic5", ("b", "a")),
    ]


def test_three_people_and_only_some_documents(team):
    ids = team.say(
        "topic", "marks", [[("a",), ("a",), ("b",)], [("b",), ("b",), ("b",)], [("a",), None, None]]
    )

    result = team.compare("topic", 3)
    assert result.documents == tuple(ids[:2]) and set(result.pairs) == {(0, 1), (0, 2), (1, 2)}
    assert result.value("observed_agreement").value == pytest.approx((1 / 3 + 1) / 2)

    assert team.compare("topic", 3, ids=ids[1:2]).value("observed_agreement").value == 1
    with pytest.raises(SpecError, match="No document is labelled by two"):
        team.compare("topic", 3, ids=ids[2:])
    with pytest.raises(SpecError, match="needs two annotators"):
        team.compare("topic", 1)


def test_several_classes(team):
    team.say("topics", "marks", [[("a", "b"), ("a",)], [(), ()], [("b",), ("b",)]])

    result = team.compare("topics")

    assert result.value("f1").value == pytest.approx(2 * 2 / (3 + 2))
    assert result.value("observed_agreement").value == pytest.approx(5 / 6)
    assert len(result.differences) == 1 and result.differences[0].versions == ("a; b", "a")


def test_spans(team):
    one = [Span(*ADA, "a"), Span(*BOB, "a")]
    team.say("names", "spans", [[one, [Span(*ADA, "a"), Span(7, 11, "a")]], [(), ()]])

    result = team.compare("names")

    assert result.main == "span_f1"
    assert {name: result.value(name).value for name in ("span_f1", "partial_f1")} == {
        "span_f1": 0.5,
        "partial_f1": 0.75,
    }
    assert result.by_label["a"][0].name == "f1" and result.by_label["a"][0].value == 0.5
    assert result.differences[0].versions == ("a: Ada; a: Bob", "a: Ada; a:  Bob")
    assert 0 < result.value("character_alpha").value < 1


def test_relations_chains_numbers_texts_and_answers(team):
    ada, bob, rome = (Span(*place, "a") for place in (ADA, BOB, ROME))
    team.say("links", "relations", [[[Relation("a", ada, bob)], [Relation("a", bob, ada)]]])
    chain = [Span(*ADA, "a", chain=1), Span(*BOB, "a", chain=1)]
    team.say("mentions", "spans", [[chain, chain], [chain, [*chain, Span(*ROME, "a", chain=1)]]])
    team.say("size", "numbers", [[1.0, 2.0], [2.0, 3.0], [5.0, 5.0]])
    team.say("summary", "written", [["Ada  met", "Ada met"], ["x", "y"]])
    team.say(
        "asked", "questions",
        [[[Question("Who?", (ADA,))], [Question("Who?", ((0, 7),))]]],
    )  # fmt: skip

    assert team.compare("links").value("f1").value == 0
    assert team.compare("links").differences[0].versions == ("Ada – a → Bob", "Bob – a → Ada")
    chains = team.compare("mentions")
    assert chains.main == "coref_f1" and 0 < chains.value("coref_f1").value < 1
    assert team.compare("size").value("mae").value == pytest.approx(2 / 3)
    assert team.compare("summary").value("f1").value == 0.5
    assert team.compare("asked").value("answer_f1").value == pytest.approx(2 / 3)
    assert rome.start == 15


def test_a_run_is_an_annotator_too(team):
    ids = team.say("topic", "marks", [[("a",)], [("b",)], [("b",)]])
    layer = labels.layer_named(team.project, "topic")
    with team.project.write():
        run = runs.add(team.project.db, "first", layer_id=layer.id)
        rows = []
        for id, share in zip(ids, (0.9, 0.8, 0.1), strict=True):
            scores = ClassScores(("a", "b"), (share, 1 - share))
            text_hash = documents.get(team.project.db, id).text_hash
            rows.append(
                (id, text_hash if id != ids[2] else "0" * 32, Prediction((scores,)).to_json())
            )
        runs.save_predictions(team.project.db, run.id, rows)

    who = agreement.annotators(team.project, layer)
    result = agreement.compare(team.project, layer, who, rounds=20)

    assert [(a.kind, a.name) for a in who] == [("person", "me"), ("run", "first")]
    assert result.documents == tuple(ids[:2])  # the text of the last one has changed since
    assert result.value("observed_agreement").value == 0.5


def test_people_are_measured_apart_from_runs_with_the_same_measures(team):
    said = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")]
    ids = team.say("topic", "marks", [[(x,) for x in row] for row in said])
    answers = {"tuned": ("a", "a", "b", "a"), "prompt": ("a", "b", "", "b")}
    for name, predicted in answers.items():
        add_run(team, name, ids, predicted)
    layer = labels.layer_named(team.project, "topic")

    result = agreement.compare(team.project, layer, agreement.annotators(team.project, layer))

    kappa = cohen_kappa_score(*zip(*said, strict=True))
    assert result.value("kappa").value == pytest.approx(kappa)
    # a reply without an answer is no label, and differs from both
    runs_kappa = [
        cohen_kappa_score([row[at] for row in said], [label or "–" for label in predicted])
        for at in (0, 1)
        for predicted in answers.values()
    ]
    assert result.with_run("kappa").value == pytest.approx(sum(runs_kappa) / 4)
    assert result.with_run("kappa").documents == 4 and result.is_of_people
    assert {value.name for value in result.with_runs} == {value.name for value in result.values}
    assert result.confusions[0, 2].documents("b", "a") == (3,)
    only_runs = agreement.compare(team.project, layer, result.annotators[1:3], rounds=20)
    assert not only_runs.is_of_people and only_runs.with_runs == ()


def test_pairs_without_a_common_document_are_left_out_of_means(team):
    one, other = [Span(*ADA, "a")], [Span(*BOB, "a")]
    team.say("names", "spans", [[one, one, None], [None, one, one], [one, other, None]])

    result = team.compare("names", 3)

    assert result.value("span_f1").value == pytest.approx((0.5 + 1) / 2)
    assert set(result.pairs) == {(0, 1), (1, 2)}


def add_run(team, name, ids, predicted):
    """A run that predicts a class for each document; "": a reply without an answer."""
    layer = labels.layer_named(team.project, "topic")
    with team.project.write():
        run = runs.add(team.project.db, name, layer_id=layer.id)
        rows = []
        for id, label in zip(ids, predicted, strict=True):
            scores = tuple(float(label == each) for each in ("a", "b"))
            field = ClassScores(("a", "b"), scores) if label else FromReply("empty")
            text_hash = documents.get(team.project.db, id).text_hash
            rows.append((id, text_hash, Prediction((field,)).to_json()))
        runs.save_predictions(team.project.db, run.id, rows)
