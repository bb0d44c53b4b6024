"""Maps of an index: principal components, t-SNE, clusters, and the place of the text."""

import numpy as np
import pytest

from tests.inspection.test_uses import TEXTS, ask
from workbench.base.errors import ModelError, SpecError
from workbench.inspection.corpus import job, projections
from workbench.inspection.corpus.index import CorpusIndex, Writer, unit
from workbench.inspection.corpus.spec import IndexFiles, Projection


@pytest.fixture
def rows():
    """Two groups of 20 vectors."""
    random = np.random.default_rng(0)
    return unit(random.normal(size=(40, 8)) + 4 * np.eye(8)[[0] * 20 + [1] * 20])


@pytest.fixture
def index(tmp_path, rows):
    writer = Writer(IndexFiles(tmp_path, "k"), (8,), len(rows))
    for number, row in enumerate(rows):
        writer.add((number, 0, 5), {"key": str(number), "text": "text"}, [row])
    writer.finish(total=40)
    return CorpusIndex(str(writer.files.about))


def mapped(index, **wanted):
    projection = Projection(**wanted)
    list(projections.write_map(index, projection))
    with np.load(index.files.map(projection)) as file:
        return dict(file)


def test_principal_components_are_those_of_scikit_learn(index, rows):
    decomposition = pytest.importorskip("sklearn.decomposition")
    found = mapped(index)

    expected = decomposition.PCA(2).fit(rows.astype(np.float16).astype(np.float64))
    points = expected.transform(rows.astype(np.float16))
    for axis in (0, 1):
        sign = np.sign(points[:, axis] @ found["points"][:, axis])
        assert found["points"][:, axis] == pytest.approx(sign * points[:, axis], abs=2e-3)
    assert found["shares"] == pytest.approx(expected.explained_variance_ratio_, abs=1e-4)


def test_groups_are_clusters_and_apart_in_every_projection(index):
    for method in ("pca", "tsne"):
        found = mapped(index, method=method, clusters=2)

        assert sorted(np.bincount(found["clusters"]).tolist()) == [20, 20]
        assert len(set(found["clusters"][:20].tolist())) == 1
        first, second = found["points"][:20], found["points"][20:]
        apart = np.linalg.norm(first.mean(0) - second.mean(0))
        assert apart > first.std(0).max() and apart > second.std(0).max()


def test_large_indexes_are_sampled(index, monkeypatch):
    monkeypatch.setitem(projections.MAX_POINTS, "pca", 10)
    found = mapped(index)

    assert len(found["points"]) == 10 and (np.diff(found["rows"]) > 0).all()


def test_too_few_points_are_refused(tmp_path):
    writer = Writer(IndexFiles(tmp_path, "k"), (4,), 1)
    writer.add((1, 0, 1), {}, [np.ones(4)])
    writer.finish(total=1)

    with pytest.raises(ModelError, match="at least 5 points; there are 1"):
        list(projections.write_map(CorpusIndex(str(writer.files.about)), Projection()))


def test_a_document_of_the_index_is_at_the_place_of_its_point(tiny_model, tmp_path, monkeypatch):
    from tests.inspection.test_uses import build
    from workbench.inspection.subject import Subject

    monkeypatch.setattr(projections, "MIN_POINTS", 4)
    subject = Subject(tiny_model)
    path = build(subject, tmp_path, "documents")
    index, projection = CorpusIndex(path), Projection(clusters=2)
    list(projections.write_map(index, projection))

    given = {"index": path, "map": str(index.files.map(projection)), "clusters": 2}
    found = ask(subject, "document_map", TEXTS[1], **given)

    assert found.documents.tolist() == [1, 2, 3, 4]
    assert found.here == pytest.approx(found.points[1].tolist(), abs=5e-3)
    assert (found.layer, found.layers, found.count) == (2, (0, 1, 2), 4)


def test_the_points_of_t_sne_are_those_of_scikit_learn_and_iterations_are_reported(monkeypatch):
    from sklearn.manifold import TSNE, _t_sne
    from sklearn.utils import _openmp_helpers

    for module in (_t_sne, _openmp_helpers):  # threads add up in any order
        monkeypatch.setattr(module, "_openmp_effective_n_threads", lambda: 1)
    monkeypatch.setattr(projections, "ITERATIONS", 350)
    rows = np.random.default_rng(3).normal(size=(40, 6)).astype(np.float32)
    shares = []

    work = projections.tsne(rows, 1)
    while True:
        try:
            shares.append(next(work))
        except StopIteration as end:
            found = end.value
            break
    wanted = TSNE(2, perplexity=13.0, random_state=1, max_iter=350).fit_transform(rows)
    assert np.allclose(found, wanted, atol=1e-3)
    assert len(shares) >= 7 and shares == sorted(shares) and shares[-1] == 1.0


def test_texts_without_a_known_word_are_points_like_others(monkeypatch):
    pytest.importorskip("sklearn.manifold")
    monkeypatch.setattr(projections, "ITERATIONS", 300)

    work = projections.tsne(np.zeros((30, 8), np.float32), 1)
    while True:
        try:
            next(work)
        except StopIteration as end:
            points = end.value
            break

    assert points.shape == (30, 2) and np.isfinite(points).all()


@pytest.mark.parametrize("number", [1, 99, -2])
def test_a_layer_that_the_index_does_not_hold_is_refused(index, number):
    with pytest.raises(SpecError, match=f"layer is {number}, expected .* from 0 to 0, or -1"):
        mapped(index, layer=number)


@pytest.mark.parametrize("inspector", ["document_map", "near_documents"])
def test_no_other_layer_is_taken_for_one_that_does_not_exist(tiny_model, tmp_path, inspector):
    from tests.inspection.test_uses import build
    from workbench.inspection.subject import Subject

    subject = Subject(tiny_model)
    path = build(subject, tmp_path, "documents")

    with pytest.raises(SpecError, match="layer is 99, expected .* from 0 to 2, or -1"):
        ask(subject, inspector, TEXTS[1], index=path, layer=99)


def test_a_missing_layer_is_named_before_the_documents_are_read(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "read_documents", lambda _path: pytest.fail("they were read"))
    root = tmp_path / "index"
    params = {"model": str(tiny_model), "device": "cpu", "root": str(root), "key": "k"}
    params |= {"kind": "documents", "input": "", "places": "", "count": 4, "total": 4}

    with pytest.raises(SpecError, match="layer is 3, expected"):
        list(job.run({**params, "layer": 3}, tmp_path))

    assert list(root.iterdir()) == []
