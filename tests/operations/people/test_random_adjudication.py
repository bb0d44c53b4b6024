"""Random labels of three people in every kind of layer, adjudicated by a fixed choice."""

import random

import networkx
import pytest

from tests.operations.people.test_adjudication import Court, content, dump
from tests.operations.people.test_agreement import TEXT
from workbench.base.errors import SpecError
from workbench.operations.people import adjudication as adj
from workbench.operations.schema import labels
from workbench.project.check import check_open
from workbench.storage.documents import documents
from workbench.storage.labels import labels as stored
from workbench.storage.staging.record_writer import RecordWriter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Layer
from workbench.text.questions import Question
from workbench.text.relations import Relation, with_rules
from workbench.text.spans import Span

WORDS = [(0, 3), (4, 7), (8, 11), (12, 14), (15, 19), (19, 20)]


def rules(layer, spans):
    return with_rules(
        Layer(layer.name, layer.kind, layer.labels), spans=spans, undirected=["b"], pairs={}
    )


@pytest.fixture
def court(tmp_path, request):
    court = Court(tmp_path / "p.glossbench")
    request.addfinalizer(court.project.close)
    links = labels.layer_named(court.project, "links")
    with court.project.edit("Rules"):
        stored.update_layer(court.project.db, links.id, options=rules(links, "names"))
    labels.add_layer(court.project, "tags", "tag", labels=["a", "b"])
    return court


def range_of(draw):
    first = draw.randrange(len(WORDS))
    last = min(len(WORDS) - 1, first + draw.randrange(2))
    return WORDS[first][0], WORDS[last][1]


def span(draw, **more):
    start, end = range_of(draw)
    parts = ((start, start + 1), (end - 1, end)) if end - start > 3 and draw.random() < 0.2 else ()
    return Span(start, end, draw.choice("ab"), parts=parts, **more)


def version(draw, names):
    """Labels of one person in some layers; names: spans to choose from."""
    states, parts = {}, {}
    if draw.random() < 0.8:
        states["topic"], parts["marks"] = "submitted", {"topic": (draw.choice("ab"),)}
    if draw.random() < 0.8:
        states["topics"] = "submitted"
        parts.setdefault("marks", {})["topics"] = tuple(draw.sample("ab", draw.randrange(3)))
    some = {s.place: s for s in draw.sample(names, draw.randrange(len(names) + 1))}
    own = list({**some, **{s.place: s for s in [span(draw)]}}.values())
    states["names"], parts["spans"] = "submitted", {"names": tuple(own)}
    if draw.random() < 0.8 and len(own) > 1:
        states["links"] = "submitted"
        pairs = {(draw.choice("ab"), *draw.sample(range(len(own)), 2)) for _ in range(2)}
        links = {}
        for label, a, b in sorted(pairs):
            a, b = sorted((a, b)) if label == "b" else (a, b)
            links[label, a, b] = Relation(label, own[a], own[b])
        parts["relations"] = {"links": tuple(links.values())}
    if draw.random() < 0.8:
        states["mentions"] = "submitted"
        mentions = {s.place: s for s in (span(draw, chain=1 + n % 2) for n in range(4))}
        parts["spans"]["mentions"] = tuple(mentions.values())
    if draw.random() < 0.8:
        states["tags"] = "submitted"
        parts["spans"]["tags"] = tuple(Span(*word, draw.choice("ab")) for word in WORDS)
    if draw.random() < 0.8:
        states["size"], parts["numbers"] = "submitted", {"size": float(draw.randrange(3))}
    if draw.random() < 0.8:
        states["summary"], parts["written"] = "submitted", {"summary": draw.choice(("x", "y"))}
    if draw.random() < 0.8:
        asked = []
        for text in draw.sample(["Who?", "Where?"], 1 + draw.randrange(2)):
            null = draw.random() < 0.3
            asked.append(Question(text, () if null else (range_of(draw),), null))
        states["asked"], parts["questions"] = "submitted", {"asked": tuple(asked)}
    return states, parts


def labelled(court, seed, count=5):
    draw, project = random.Random(seed), court.project
    with project.edit("Import"):
        source = project.source("import")
        texts = [Document(f"d{n}", (("text", TEXT),)) for n in range(count)]
        ids = documents.add(project.db, map(Record, texts), source_id=source)
        for person in court.persons:
            writer = RecordWriter(project.db, source, person.id)
            for id, document in zip(ids, texts, strict=True):
                common = random.Random(f"{seed} {id}")
                names = list({s.place: s for s in (span(common) for _ in range(4))}.values())
                if draw.random() < 0.85:
                    states, parts = version(draw, names)
                    writer.write_labels([(id, Record(document, states, **parts))])
    return ids


def chains(record):
    members = {}
    for mention in record.spans.get("mentions", ()):
        members.setdefault(mention.chain, set()).add(mention.place)
    return {frozenset(chain) for chain in members.values()}


def said(record):
    """Layer → what a record says, without empty layers."""
    every = {**content(record), "mentions": chains(record)}
    links = every.get("links", ())  # "b" has no direction
    every["links"] = {(x, *(sorted(ends) if x == "b" else ends)) for x, *ends in links}
    return {name: labels for name, labels in every.items() if labels not in (None, set())}


def expected(versions, take):
    """What gold has: of a layer the labels of the first person, or of all, or what all share.

    versions: records of the people who labelled the document.
    """
    gold = {}
    for name in {name for record in versions for name in record.states}:
        own = [record for record in versions if record.states.get(name) == "submitted"]
        contents = [said(record).get(name, set()) for record in own]
        if name == "mentions" and take != "first":
            gold[name] = joined(contents) if take == "both" else shared(contents)
        elif name == "asked":
            gold[name] = answered(contents, take)
        elif take == "both" and name in ("names", "topics", "links"):
            gold[name] = set().union(*contents)
        elif take == "neither" and name in ("names", "topics", "links", "tags"):
            gold[name] = set.intersection(*contents)
        else:
            gold[name] = contents[0]
    return {name: labels for name, labels in gold.items() if labels not in (None, set())}


def joined(partitions):
    """The finest partition that all partitions refine, over all mentions."""
    graph = networkx.Graph()
    for chain in (chain for chains in partitions for chain in chains):
        networkx.add_path(graph, sorted(chain))
        graph.add_nodes_from(chain)
    return {frozenset(group) for group in networkx.connected_components(graph)}


def shared(partitions):
    """The coarsest partition of the shared mentions that refines all partitions."""
    mentions = set.intersection(*(set().union(*chains) for chains in partitions))
    groups = {}
    for mention in mentions:
        key = tuple(next(chain for chain in chains if mention in chain) for chains in partitions)
        groups.setdefault(key, set()).add(mention)
    return {frozenset(group) for group in groups.values()}


def answered(contents, take):
    gold = set()
    for text in {text for said in contents for text, _answers, _null in said}:
        own = [next((q for q in said if q[0] == text), None) for said in contents]
        answers = [question for question in own if question is not None]
        if len(set(own)) == 1:
            gold.add(own[0])
        elif take == "both" and not any(null for _text, _answers, null in answers):
            gold.add((text, frozenset().union(*(a for _text, a, _null in answers)), False))
        elif own[0] is not None and not (take == "neither" and None in own):
            gold.add(own[0])
    return gold


def take_all(court, id, take):
    """Decide a document and submit it; returns whether all relations could be taken."""
    people, layers, whole = court.who(), court.layers(), True
    while True:
        sheet = adj.sheet(court.project, id, people, layers)
        item = next((item for item in sheet.differences if item.taken is None), None)
        if item is None:
            break
        own = take if take in item.takes else next(t for t in item.takes if t != "both")
        try:
            adj.decide(court.project, sheet, item, own)
        except SpecError:
            assert item.layer.name == "links" and take == "first"
            adj.decide(court.project, sheet, item, "neither")
            whole = False
    return adj.submit(court.project, sheet) == () and whole


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("take", ["first", "both", "neither"])
def test_gold_is_what_was_taken_and_undo_brings_everything_back(court, seed, take):
    ids = labelled(court, seed)
    project = court.project
    people, layers = court.who(), court.layers()
    start, steps, own = dump(project), len(project.history()), [court.of(p) for p in people]
    versions = {id: [] for id in ids}
    for person in people:
        with project.db.labels_of(person.id):
            for record in documents.records(project.db):
                if record.states:
                    versions[record.document.id].append(record)

    adj.begin(project, people, layers)
    for id in ids:
        whole = take_all(court, id, take)
        of_all = expected(versions[id], take)
        gold = said(documents.record(project.db, id))
        first = versions[id] and "links" in versions[id][0].states
        if take != "both" and not (whole and first):  # they refer to spans that are not gold
            of_all["links"], gold["links"] = None, None
        assert gold == of_all

    assert check_open(project) == []
    assert [court.of(person) for person in people] == own
    end, count = dump(project), len(project.history()) - steps
    assert project.undo(count) is not None
    assert dump(project) == start and check_open(project) == []
    project.redo(count)
    assert dump(project) == end and check_open(project) == []
