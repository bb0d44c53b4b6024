"""One run adapts a language model to texts, then trains the adapted model."""

from pathlib import Path

import pytest

from workbench.models import folder as folders
from workbench.models.base import LoadOptions
from workbench.models.loading import load
from workbench.models.spec import card
from workbench.pretraining.adapt import adapt_and_train, pretrain_spec
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.training import optim
from workbench.training.events import Adapted, Adapting, Saved, Step
from workbench.training.plan import Plan
from workbench.training.results import TrainResult
from workbench.training.spec import TrainSpec

AWD_LSTM = Path(__file__).parents[1] / "data" / "awd_lstm" / "v2"


@pytest.fixture
def texts(text_file):
    """Training and held-out text of few words, as `operations.runs.adaptation.Texts.to_json`."""
    return {
        "path": str(text_file),
        "held_out": str(text_file),
        "documents": 400,
        "held_out_documents": 400,
    }


@pytest.fixture
def classes():
    """Twelve documents of two classes."""
    splits = ["train"] * 8 + ["dev"] * 4
    records = [
        Record(
            Document(
                str(n), (("text", ("the bus is late", "thank you")[n % 2]),), splits[n], id=n + 1
            ),
            {"c": "submitted"},
            {"c": (("bad", "good")[n % 2],)},
        )
        for n in range(12)
    ]
    return Dataset((Layer("c", "class", (Label("good"), Label("bad"))),), tuple(records))


def run(spec, data, folder, texts, *, stop_at=None):
    """(events, result); asked to stop at the first event of a type."""
    work, events, command = adapt_and_train(spec, data, folder, texts=texts), [], None
    try:
        while True:
            event = work.send(command)
            command = "stop" if stop_at is not None and isinstance(event, stop_at) else None
            stop_at = None if command else stop_at
            events.append(event)
    except StopIteration as end:
        return events, end.value


def spec(model, **options):
    given = {"device": "cpu", "precision": "fp32", "epochs": 1, "adapt_epochs": 1, **options}
    return TrainSpec("classify", "c", str(model), "tiny", options=given)


def test_the_language_model_learns_first_and_the_classifier_starts_from_it(
    tiny, texts, classes, tmp_path
):
    wanted = spec(tiny["gpt2"], adapt_learning_rate=3e-3)

    events, result = run(wanted, classes, tmp_path, texts)

    kinds = [type(event) for event in events if isinstance(event, Adapting | Adapted | Step)]
    assert kinds.index(Step) > max(n for n, kind in enumerate(kinds) if kind is not Step)
    assert sum(isinstance(event, Adapted) for event in events) == 2  # before and after
    made = result.adaptation
    assert made.after["perplexity"] < 0.8 * made.before["perplexity"]
    assert made.after["perplexity_per_word"] < made.before["perplexity_per_word"]
    assert (made.objective, made.documents, made.epochs) == ("causal_lm", 400, 1)
    assert result.base_sha256 == folders.sha256(tiny["gpt2"])
    assert result.options["adapt_epochs"] == 1
    assert card(tmp_path / "adapted").usable
    assert TrainResult.from_json(result.to_json()).adaptation == made


def test_a_recurrent_model_is_adapted_at_the_rate_of_its_paper(tiny, texts):
    recurrent = TrainSpec(
        "classify", "c", str(AWD_LSTM), options={"adapt_epochs": 1}, allow_pickle=True
    )
    transformer = spec(tiny["gpt2"])

    rates = [
        pretrain_spec(item, texts).options["learning_rate"] for item in (recurrent, transformer)
    ]

    assert rates == [0.004, 5e-5]  # Howard and Ruder 2018, section 4.1; that of the objective


def test_the_adaptation_is_as_planned_before_the_start(tiny, texts):
    plan = Plan(1, 8, 1e-4, 64, 1, 1, "macro_f1", 0.0, "causal_lm", 0.0123)

    found = pretrain_spec(spec(tiny["gpt2"]), texts, plan)

    assert (found.objective, found.peak) == ("causal_lm", 0.0123)


def test_lower_layers_are_adapted_at_lower_rates_where_asked_for(tiny, texts):
    """Groups as in fastai's awd_lstm_lm_split: each LSTM, then the embeddings with the decoder."""
    asked = TrainSpec(
        "classify",
        "c",
        str(AWD_LSTM),
        options={"adapt_epochs": 1, "adapt_layer_decay": 2.6},
        allow_pickle=True,
    )
    encoder = load(AWD_LSTM, LoadOptions(head="next", allow_pickle=True))
    decay = pretrain_spec(asked, texts).settings()["layer_decay"]

    groups = optim.groups(
        optim.Levels.of_language_model(encoder, None), rate=0.004, decay=decay, weight_decay=0.0
    )

    rates = {id(p): group["peak"] for group in groups for p in group["params"]}
    assert rates.keys() == {id(p) for p in encoder.parameters()}
    lstm = [rates[id(layer.weights[0])] for layer in encoder.layers]
    assert lstm == pytest.approx([0.004 / 2.6**n for n in range(len(lstm), 0, -1)])
    assert rates[id(encoder.embeddings.weight)] == rates[id(encoder.decoder_bias)] == 0.004


def test_stop_ends_the_adaptation_and_the_model_as_it_is_is_trained(tiny, texts, classes, tmp_path):
    wanted = spec(tiny["bert"], adapt_epochs=1000)

    events, result = run(wanted, classes, tmp_path, texts, stop_at=Adapting)

    assert result.adaptation.stopped and result.adaptation.objective == "masked_lm"
    assert not result.stopped and any(isinstance(event, Saved) for event in events)
