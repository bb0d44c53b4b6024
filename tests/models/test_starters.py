"""Each starter loads, embeds text and learns two steps, as it is shipped."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.starters import STARTERS  # noqa: E402
from workbench.base import paths  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.loading import load  # noqa: E402
from workbench.tasks.embedding import Embedder  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.labels import Label, Layer  # noqa: E402
from workbench.training import loop  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

OTHERS = [name for name in STARTERS if name not in ("starter-bert", "starter-gpt")]


def states(name, *texts, folder):
    """Word states of the last layer, of each text."""
    encoder = load(paths.resource("models") / name, LoadOptions()).eval()
    embedder = Embedder(encoder, 100, "word", "last", folder)
    documents = [Document(str(number), (("text", text),)) for number, text in enumerate(texts)]
    return [next(iter(found.layers.values())) for found in embedder.stream(documents)]


def cosine(first, second):
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


@pytest.mark.parametrize(
    "name", [name for name in ("starter-vectors", "starter-glove") if name in STARTERS]
)
def test_related_words_are_nearer_than_others(tmp_path, name):
    ((king, queen, river, lake),) = states(name, "king queen river lake", folder=tmp_path)

    assert min(cosine(king, queen), cosine(river, lake)) > max(
        cosine(king, lake), cosine(queen, river)
    )


@pytest.mark.parametrize("name", OTHERS)
def test_a_starter_learns_two_steps_of_a_classifier(tmp_path, name):
    records = tuple(
        Record(
            Document(str(number), (("text", text),), split, id=number + 1),
            {"gold": "submitted"},
            {"gold": (label,)},
        )
        for number, (text, label, split) in enumerate(
            [("the king died", "no", "train"), ("a good year", "yes", "train")] * 8
            + [("a bad year", "no", "dev"), ("good", "yes", "dev")]
        )
    )
    data = Dataset((Layer("gold", "class", (Label("no"), Label("yes"))),), records)
    options = {"epochs": 1, "batch_size": 8, "device": "cpu", "precision": "fp32"}
    model = str(paths.resource("models") / name)

    work = loop.train(TrainSpec("classify", "gold", model, options=options), data, tmp_path)
    result = finished(work)

    assert result.steps == 2 and 0 <= result.evaluations["dev"].scores["accuracy"] <= 1


def finished(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


HEADS = (
    ("starter-elmo", "next"),
    ("starter-elmo", "previous"),
    ("starter-ulmfit-forward", "next"),
    ("starter-ulmfit-backward", "previous"),
)


@pytest.mark.parametrize(("name", "head"), [row for row in HEADS if row[0] in STARTERS])
def test_language_models_name_the_words_that_they_expect(name, head):
    encoder = load(paths.resource("models") / name, LoadOptions(head=head)).eval()

    words = best(encoder, "the king of the")

    assert len(words) == 4 and all(words)


def best(encoder, text):
    """The most probable entry of the vocabulary at each word."""
    from workbench.runtime.inputs import stack

    inputs = encoder.preparer.whole([Document("", (("text", text),))], 100).inputs
    arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
    with torch.inference_mode():
        logits = encoder.logits({key: torch.from_numpy(value) for key, value in arrays.items()})
    inside = inputs[0].text == 0
    return [encoder.vocable(int(number)) for number in logits[0].argmax(-1)[inside]]
