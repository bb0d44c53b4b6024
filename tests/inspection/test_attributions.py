"""Attributions: completeness, known gradients, occlusion by hand."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import published, tiny_models  # noqa: E402
from tests.inspection.test_transitions import asked, made  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.attributions.inspector import (  # noqa: E402
    STEPS,
    AttributionsInspector,
    TargetScorer,
)
from workbench.inspection.attributions.targets import explained  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.operations.inspecting import inspect  # noqa: E402
from workbench.runtime.candidates import SpanScorer  # noqa: E402
from workbench.tasks import spec as tasks  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.labels import Label, Layer  # noqa: E402
from workbench.text.segment import tokens_of  # noqa: E402

__all__ = ["made"]
LABELS = ["PER", "LOC"]
TEXT = "the tram to northfield was late"
ITEM = AttributionsInspector.info


@pytest.fixture(scope="module")
def classifier(tiny_run):
    return Subject(tiny_run("classify"), device="cpu")


@pytest.fixture(scope="module")
def tagger(tiny_run):
    return Subject(tiny_run("tag", ("PER", "LOC")), device="cpu")


def run(subject, text=TEXT, **options):
    defaults = {option.name: option.default for option in ITEM.options}
    document = Document("", (("text", text),))
    return AttributionsInspector().run(subject, [document], {**defaults, **options})


@pytest.mark.parametrize("score", ["probability", "logit"])
@pytest.mark.parametrize("kind", ["classifier", "tagger"])
def test_integrated_gradients_are_complete(kind, score, request):
    """Sundararajan et al. 2017, proposition 1: they add up to F(x) - F(baseline)."""
    result = run(request.getfixturevalue(kind), score=score, steps=300)

    assert result.total == pytest.approx(result.score - result.baseline, abs=0.02)
    assert result.delta == pytest.approx(result.total - (result.score - result.baseline), abs=1e-4)


def test_steps_are_added_until_the_attributions_are_complete(classifier, monkeypatch):
    few = run(classifier)
    assert few.steps in STEPS and run(classifier, steps=7).steps == 7
    assert run(classifier, method="gradient_input").steps is None

    monkeypatch.setattr("workbench.inspection.attributions.inspector.CONVERGED", 0.0)
    most = run(classifier)
    assert most.steps == STEPS[-1]
    assert few.scores == pytest.approx(most.scores, abs=0.02 * max(map(abs, most.scores)))


@pytest.mark.parametrize("score", ["probability", "logit"])
def test_integrated_gradients_of_a_number_are_complete(tiny_run, score):
    """As above; a number is its own logit, so both are the same."""
    result = run(Subject(tiny_run("regress", ("",)), device="cpu"), score=score, steps=300)

    assert result.total == pytest.approx(result.score - result.baseline, abs=0.02)
    (target,) = result.targets
    assert (target.id, target.value) == ("number", pytest.approx(result.score, abs=1e-5))


def test_every_class_is_a_target_with_its_probability(classifier):
    result = run(classifier, method="gradient_input")

    shares = [target.share for target in result.targets]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1)
    assert result.target == result.targets[0].id
    assert result.score == pytest.approx(shares[0], abs=1e-5)
    other = run(classifier, method="gradient_input", target=result.targets[1].id)
    assert other.score == pytest.approx(shares[1], abs=1e-5) and other.scores != result.scores


def test_gradient_times_input_is_that_of_torch(classifier):
    encoder = classifier.encoder
    result = run(classifier, method="gradient_input", score="logit")

    piece = classifier.prepared(Document("", (("text", TEXT),))).inputs[0]
    ids = torch.from_numpy(piece.ids.astype("int64"))[None]
    embeddings = encoder.model.get_input_embeddings()(ids).detach().requires_grad_()
    index = classifier.labels.index(result.target.partition(":")[2])
    encoder.model(inputs_embeds=embeddings).logits[0, index].backward()
    wanted = (embeddings.grad * embeddings).sum(-1)[0].tolist()
    assert result.total == pytest.approx(sum(wanted), rel=1e-3, abs=1e-5)
    assert result.scores[0] == pytest.approx(wanted[1], rel=1e-3, abs=1e-5)


def test_occlusion_is_the_fall_of_the_score_with_the_word_masked(classifier):
    result = run(classifier, method="occlusion")

    name = result.target.partition(":")[2]
    masked = classifier.predicted(Document("", (("text", TEXT.replace("tram", "[MASK]")),)))
    logits = torch.from_numpy(masked.logits[0]["logits"]).softmax(-1)
    fall = result.score - float(logits[classifier.labels.index(name)])
    assert result.scores[1] == pytest.approx(fall, abs=1e-5)


def test_noise_has_a_seed(classifier):
    asked = {"method": "smoothgrad", "samples": 3}
    item, same, other = (run(classifier, seed=seed, **asked) for seed in (1, 1, 2))

    assert item.scores == same.scores and item.scores != other.scores


def test_tags_of_words_and_spans_are_targets(tagger):
    result = run(tagger, method="gradient_input")

    words = [target for target in result.targets if target.id.startswith("word:")]
    assert [target.first for target in words] == list(range(6))
    spans = [target for target in result.targets if target.id.startswith("span:")]
    for span in spans:
        inner = [word.share for word in words[span.first : span.last + 1]]
        assert span.share == pytest.approx(sum(inner) / len(inner))
        explained = run(tagger, method="gradient_input", target=span.id)
        assert explained.score == pytest.approx(span.share, abs=1e-5)


@pytest.mark.parametrize("loss", ["softmax", "sigmoid"])
@pytest.mark.parametrize("score", ["probability", "logit"])
@pytest.mark.parametrize("summary", [False, True])
def test_integrated_gradients_of_a_span_are_complete(made, loss, score, summary):
    """As above, for the score of a span by the states of its first and its last word, or of all."""
    folder = made("spans", LABELS, {"longest_span": 3, "span_loss": loss, "span_summary": summary})
    subject = Subject(folder, device="cpu")

    result = run(subject, score=score, steps=300)

    assert result.total == pytest.approx(result.score - result.baseline, abs=0.02)
    target = result.targets[0]
    table = asked(folder, "span_scores", TEXT)
    share = table.scores[target.first, target.last - target.first, LABELS.index(target.label)]
    assert target.share == pytest.approx(float(share), abs=1e-5)
    if score == "probability":
        assert result.score == pytest.approx(target.share, abs=1e-5)


@pytest.fixture(scope="module")
def permuted(tmp_path_factory, data_folder):
    """A run of an XLNet, which asks its table for transposed ids."""
    vocabularies = data_folder / "tokenizers"
    if not vocabularies.is_dir():
        pytest.skip(f"no tokenizers in {data_folder}")
    folder = tmp_path_factory.mktemp("xlnet")
    base = published.make(folder / "base", "xlnet", vocabularies)
    layer = Layer("topic", "class", (Label("late"), Label("full")))
    records = [
        Record(
            Document(str(n), (("text", f"the tram is {name}"),), split=("train", "dev")[n > 3]),
            states={"topic": "submitted"},
            marks={"topic": (name,)},
        )
        for n, name in enumerate(["late", "full"] * 3)
    ]
    data = Dataset((layer,), tuple(records))
    return Subject(published.train(data, base, "classify", folder / "run"), device="cpu")


@pytest.mark.parametrize("method", ["integrated_gradients", "gradient_input", "occlusion"])
def test_xlnet_has_attributions_that_do_not_mix_tokens_with_texts(permuted, method):
    result = run(permuted, method=method, steps=100)

    assert len(result.scores) == len(TEXT.split()) and any(result.scores)
    if method == "integrated_gradients":
        assert result.total == pytest.approx(result.score - result.baseline, abs=1e-3)


def test_as_many_rows_as_tokens_are_told_apart(permuted):
    text = explained(permuted, Document("", (("text", TEXT),)), "")
    _target, place = text.place("")
    piece = text.predicted.prepared.inputs[place.window]
    scorer = TargetScorer(permuted, piece, place, probability=True)
    rows = torch.randn(len(piece), *scorer.embeddings.shape[1:])

    with torch.no_grad():
        together = scorer.of_embeddings(rows)
        alone = torch.cat([scorer.of_embeddings(row[None]) for row in rows])
        same = scorer.of_embeddings(scorer.embeddings), scorer.of_ids(scorer.ids)

    assert together.numpy() == pytest.approx(alone.numpy(), abs=1e-6)
    assert same[0].numpy() == pytest.approx(same[1].numpy(), abs=1e-6)


def test_predicted_spans_are_targets_before_the_most_probable_others(made, monkeypatch):
    weight = np.zeros((2, 150), np.float32)
    every = SpanScorer(np.zeros((3, 150), np.float32), weight, np.array([2.0, 1.0]), none=False)
    monkeypatch.setattr(SpanScorer, "from_json", lambda raw, labels: every)
    folder = made("spans", LABELS, {"longest_span": 3, "span_loss": "sigmoid"})
    subject = Subject(folder, device="cpu")

    targets = run(subject, method="gradient_input").targets

    spans = subject.predicted(Document("", (("text", TEXT),))).prediction.spans
    assert len(spans) > 2 and len(targets) == len(spans) + 5
    words = tokens_of(Document("", (("text", TEXT),)))
    shown = [(words[target.first][0], words[target.last][1], target.label) for target in targets]
    found = {(span.start, span.end, span.label) for span in spans}
    assert set(shown[: len(spans)]) == found and not found.intersection(shown[len(spans) :])
    assert len({target.id for target in targets}) == len(targets)


def test_an_unknown_target_is_refused(classifier):
    with pytest.raises(WorkbenchError, match="no target 'class:none'"):
        run(classifier, target="class:none")


def test_runs_alone_have_scores_to_explain(tmp_path, tiny_run):
    def refused(choice):
        return next(offer.refused for offer in inspect.offers(choice) if offer.id == ITEM.id)

    assert not refused(inspect.of_folder(str(tiny_run("classify"))))
    assert refused(inspect.of_folder(str(tiny_models.make(tmp_path / "bert", "bert"))))
    assert tasks.SCORES in tasks.info("multilabel").provides({})
