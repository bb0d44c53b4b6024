"""The fit of models to a text, against likelihoods that are computed directly."""

import json
import math
from pathlib import Path

import pytest
import torch

from workbench.base import paths
from workbench.models.generate import LanguageModel
from workbench.operations.models import lm_evaluation
from workbench.pretraining import fit as fits_of
from workbench.pretraining.fit import MIN_SCORED_TOKENS, Tally, run
from workbench.pretraining.results import ModelFit
from workbench.text.segment import words

DATA = Path(__file__).parents[1] / "data"
GPT = paths.resource("models/starter-gpt")
TEXTS = ["The train to the airport is late.", "A bus stops here."]


def measured(tmp_path, *models, texts=TEXTS, seconds=60.0, **more):
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    named = [{"name": model.name, "path": str(model), "allow_pickle": True} for model in models]
    params = {
        "models": named,
        "texts": str(tmp_path / "texts.json"),
        "seconds": seconds,
        "seed": 1,
        **more,
    }
    job, seen = run(params, tmp_path), []
    while True:
        try:
            seen.append(next(job))
        except StopIteration as end:
            return [ModelFit.from_json(item) for item in end.value["fits"]], seen


def test_the_pseudo_perplexity_masks_each_unit_alone(tmp_path, tiny_model):
    (fit,), _seen = measured(tmp_path, tiny_model)
    model = LanguageModel.load(tiny_model, device="cpu")
    total, count = 0.0, 0
    for text in TEXTS:
        ids = model.tokenizer.backend.encode(text).ids
        for at in range(1, len(ids) - 1):
            row = torch.tensor([[*ids[:at], model.mask, *ids[at + 1 :]]])
            inputs = {"input_ids": row, "attention_mask": torch.ones_like(row)}
            scores = model.encoder.logits_at(inputs, torch.tensor([[at]]))[0, 0].log_softmax(-1)
            total -= float(scores[ids[at]].detach())
            count += 1

    mean, in_all, characters = total / count, 13, sum(map(len, TEXTS))  # words with full stops
    assert fit.kind == "pseudo" and fit.scored == count
    assert fit.fertility == pytest.approx(count / in_all)
    assert fit.perplexity == pytest.approx(math.exp(mean * count / in_all), rel=1e-3)
    assert fit.per_character == pytest.approx(math.exp(mean * count / characters), rel=1e-3)


def test_the_interval_of_the_mean_is_that_of_resampled_texts(tmp_path, tiny_model):
    """By hand: of two texts with means 1 and 3, a quarter of the samples has the same one twice."""
    two = Tally(texts={4: (2.0, 2), 7: (6.0, 2)})
    assert two.bounds(1) == (1.0, 3.0)
    assert Tally(texts={0: (2.0, 2)}).bounds(1) is None

    (fit,), _seen = measured(tmp_path, tiny_model)

    assert fit.low < fit.total / fit.scored < fit.high
    assert fit.interval[0] < fit.perplexity < fit.interval[1]


def test_every_kind_of_model_is_measured_with_progress(tmp_path, data_folder):
    models = (
        GPT,
        DATA / "awd_lstm" / "v1",
        DATA / "char_lm" / "forward.pt",
        data_folder / "vectors" / "skipgram.txt",
    )
    fits, seen = measured(tmp_path, *models, seconds=0.5)

    assert [fit.kind for fit in fits] == ["causal", "causal", "character", ""]
    assert all(fit.problem == "" for fit in fits) and fits[3].perplexity == 0
    assert all(fit.perplexity > 1 and fit.scored > 10 for fit in fits[:3])
    assert all(fit.low < fit.high for fit in fits[:3]) and fits[3].interval is None
    assert fits[3].fertility == pytest.approx(1.0, abs=0.2) and fits[3].limit == 0
    parts = [item["part"] for item in seen if item["kind"] == "progress"]
    assert {0, 0.25, 0.5, 0.75} <= set(parts) and parts == sorted(parts)


def test_marks_that_a_recurrent_model_predicts_count_towards_the_words_of_the_text(tmp_path):
    """By the definition: all that was predicted, divided by the words of the text."""
    (fit,), _seen = measured(tmp_path, DATA / "awd_lstm" / "v1", seconds=60, error=0.0)

    count, characters = sum(len(words(text)) for text in TEXTS), sum(map(len, TEXTS))
    assert fit.scored > fit.fertility * count
    assert fit.perplexity == pytest.approx(math.exp(fit.total / count))
    assert fit.per_character == pytest.approx(math.exp(fit.total / characters))
    (score,) = lm_evaluation.scored([fit], TEXTS)
    assert score.perplexity.per_word == pytest.approx(fit.perplexity)


def test_texts_of_any_length_are_scored_together_as_alone(tmp_path):
    """Shorter streams are continued in a batch; what follows their end is not scored."""
    models = (DATA / "awd_lstm" / "v1", DATA / "char_lm" / "forward.pt", GPT)
    texts = [*TEXTS, "The next train to the airport leaves from here. It is late, too."]

    together, _seen = measured(tmp_path, *models, texts=texts)
    alone = [measured(tmp_path, *models, texts=[text])[0] for text in texts]

    for fit, *singles in zip(together, *alone, strict=True):
        assert fit.scored == sum(single.scored for single in singles)
        assert fit.total == pytest.approx(sum(single.total for single in singles), rel=1e-4)


def test_no_more_is_scored_than_the_mean_needs(tmp_path):
    texts = TEXTS * 100
    (fit,), _seen = measured(tmp_path, DATA / "char_lm" / "forward.pt", texts=texts)

    assert MIN_SCORED_TOKENS <= fit.scored < sum(map(len, texts)) / 2


def test_all_units_are_scored_if_no_error_is_small_enough(tmp_path):
    texts = TEXTS * 100
    (fit,), _seen = measured(tmp_path, DATA / "char_lm" / "forward.pt", texts=texts, error=0.0)

    assert fit.scored == sum(map(len, texts))


def test_a_stop_ends_the_model_that_is_measured_with_what_was_scored(tmp_path, monkeypatch):
    monkeypatch.setattr(fits_of, "REPORT_EVERY", 0.0)
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS * 100), encoding="utf-8")
    path = str(DATA / "char_lm" / "forward.pt")
    models = [{"path": path, "name": name, "allow_pickle": True} for name in ("first", "second")]
    params = {"models": models, "texts": str(tmp_path / "texts.json"), "seconds": 60.0, "seed": 1}
    work = run({**params, "error": 0.0}, tmp_path)

    seen = [next(work) for _event in range(3)]  # the first model, its beginning, some texts
    with pytest.raises(StopIteration) as end:
        event = work.send("stop")
        while True:
            event = next(work)

    assert event["kind"] == "fit" and 0 < seen[2]["part"] < 0.5
    (fit,) = end.value.value["fits"]
    assert fit["name"] == "first" and 0 < fit["scored"] < sum(map(len, TEXTS * 100))


def test_a_model_that_fails_is_named_and_the_others_are_measured(tmp_path, tiny_model):
    fits, _seen = measured(tmp_path, tmp_path / "nix", tiny_model, seconds=0.1)

    assert fits[0].problem and fits[1].kind == "pseudo"
