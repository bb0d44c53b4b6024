"""Linear CKA: its invariances, and the layers of tiny models."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.layer_similarity.info import INFO, LayerSimilarity  # noqa: E402
from workbench.inspection.layer_similarity.inspector import (  # noqa: E402
    Centred,
    LayerSimilarityInspector,
    linear_cka,
)
from workbench.inspection.spec import OfModel  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402

DEFAULTS = {option.name: option.default for option in INFO.options}
DATA = Dataset(
    (),
    tuple(
        Record(Document(str(number), (("text", text),)))
        for number, text in enumerate(("ada met bob in paris", "the tram was late", "a bus"))
    ),
)


def cka(item, other):
    return linear_cka(Centred(item), Centred(other))


def vectors(width=6, seed=0):
    return np.random.default_rng(seed).normal(size=(40, width))


def test_equal_vectors_have_similarity_one_whatever_their_rotation_and_scale():
    given = vectors()
    rotation, _rest = np.linalg.qr(vectors(6, seed=1)[:6])

    assert cka(given, given) == pytest.approx(1)
    assert cka(given, 3 * given @ rotation + 5) == pytest.approx(1)


def test_a_general_linear_map_changes_the_similarity():
    given = vectors()

    assert cka(given, given @ np.diag([1, 1, 1, 1, 1, 20])) < 0.9
    assert cka(given, np.ones((40, 3))) == 0


def test_it_is_the_normalized_hsic_of_linear_kernels():
    item, other = vectors(), vectors(4, seed=2)
    centre = np.eye(40) - 1 / 40
    kernels = [centre @ rows @ rows.T @ centre for rows in (item, other)]
    norms = [np.trace(kernel @ kernel) for kernel in kernels]

    expected = np.trace(kernels[0] @ kernels[1]) / np.sqrt(norms[0] * norms[1])
    assert cka(item, other) == pytest.approx(expected)


def finished(work):
    shares = []
    while True:
        try:
            shares.append(next(work))
        except StopIteration as end:
            assert shares == sorted(shares) and shares[-1] <= 1
            return end.value


def examine(folder, **options):
    subject = Subject(folder, device="cpu")
    work = LayerSimilarityInspector().examine(subject, DATA, "", {**DEFAULTS, **options})
    return finished(work)


def test_the_layers_of_a_model_are_compared_with_themselves_and_those_of_another(tmp_path):
    bert = tiny_models.make(tmp_path / "bert", "bert")
    gpt = tiny_models.make(tmp_path / "gpt", "gpt2")

    own, both = examine(bert), examine(bert, other=str(gpt))

    values = np.array(own.values)
    assert own.same and values.shape == (3, 3) and np.allclose(values.diagonal(), 1)
    assert np.allclose(values, values.T) and (own.words, own.documents) == (11, 3)
    assert not both.same and (both.first, both.second) == ("bert", "gpt")
    assert np.array(both.values).shape == (3, 3) and np.max(both.values) < 0.999


def test_a_run_without_its_model_cannot_be_compared_with_it(tiny_run):
    with pytest.raises(WorkbenchError, match="was trained from is not installed"):
        examine(tiny_run("classify"), other="base")


def test_a_pretrained_model_was_trained_from_no_other(tmp_path):
    with pytest.raises(WorkbenchError, match="bert is not a run"):
        examine(tiny_models.make(tmp_path / "bert", "bert"), other="base")


def test_a_run_has_its_name_in_results():
    alone = LayerSimilarity("model", "model", ((1.0,),), 3, 1, same=True)
    both = LayerSimilarity("model", "bert", ((1.0,),), 3, 1)

    assert isinstance(both, OfModel)
    assert (alone.named("first").first, alone.named("first").second) == ("first", "first")
    assert (both.named("first").first, both.named("first").second) == ("first", "bert")
