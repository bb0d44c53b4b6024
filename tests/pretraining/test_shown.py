"""The first batch of a run as text, for every objective."""

from pathlib import Path

import pytest

from tests import tiny_models
from workbench.base.errors import SpecError
from workbench.pretraining import loop
from workbench.pretraining.spec import PretrainSpec

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    made = {kind: tiny_models.make(folder / kind, kind) for kind in ("bert", "gpt2", "bart")}
    return {
        **made,
        "awd_lstm": DATA / "awd_lstm" / "v2",
        "char_lm": DATA / "char_lm" / "forward.pt",
    }


def shown(objective, model, text_file, tmp_path, *, seed=1, **options):
    given = {"batch_size": 4, "length": 24, "device": "cpu", **options}
    spec = PretrainSpec(objective, str(model), (str(text_file),), (), seed, given, True)
    result = steps_of(loop.show_batch({"spec": spec.to_json()}, tmp_path))
    assert result["objective"] == objective
    return result["rows"]


def steps_of(work):
    """What a job returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("objective", ["masked_lm", "nsp", "span_masking"])
def test_masked_units_show_what_was_done_to_them_and_the_original(
    models, text_file, tmp_path, objective
):
    rows = shown(objective, models["bert"], text_file, tmp_path, mask_rate=0.5)

    assert len(rows) == 4
    units = [unit for row in rows for unit in row["units"]]
    assert {unit["what"] for unit in units} == {"", "masked", "random", "kept"}
    for unit in units:
        assert (unit["target"] is None) == (unit["what"] == "")
        assert (unit["input"] == "[MASK]") == (unit["what"] == "masked")
        assert (unit["input"] == unit["target"]) == (unit["what"] == "kept")
    for row in rows:
        assert list(row["original"]) == [item["target"] or item["input"] for item in row["units"]]
        assert "[MASK]" not in row["original"] and row["original"][0] == "[CLS]"


def test_next_sentences_and_spans_are_named(models, text_file, tmp_path):
    pairs = shown("nsp", models["bert"], text_file, tmp_path, batch_size=8)
    spans = shown("span_masking", models["bert"], text_file, tmp_path)

    assert {row["notes"]["next_sentence"] for row in pairs} == {"next", "random"}
    for row in spans:
        covered = {place for start, end in row["spans"] for place in range(start, end)}
        wanted = {n for n, unit in enumerate(row["units"]) if unit["target"] is not None}
        assert covered == wanted and row["spans"]


@pytest.mark.parametrize("name", ["gpt2", "awd_lstm", "char_lm"])
def test_a_causal_model_predicts_the_next_input(models, text_file, tmp_path, name):
    rows = shown("causal_lm", models[name], text_file, tmp_path)

    for row in rows:
        units = row["units"]
        for unit, after in zip(units, units[1:], strict=False):
            assert unit["target"] == after["input"] and after["input"]


def test_a_denoising_model_writes_the_original(models, text_file, tmp_path):
    rows = shown("denoising", models["bart"], text_file, tmp_path)

    for row in rows:
        assert row["original"] == row["written"]
        assert any("mask" in unit["input"] for unit in row["units"])


def test_equal_seeds_show_the_same_batch(models, text_file, tmp_path):
    first, again, other = (
        shown("masked_lm", models["bert"], text_file, tmp_path, seed=seed) for seed in (1, 1, 2)
    )

    assert first == again != other


def test_a_text_without_a_batch_is_refused(models, tmp_path):
    (tmp_path / "empty.txt").write_text("")

    with pytest.raises(SpecError, match="too short"):
        shown("masked_lm", models["bert"], tmp_path / "empty.txt", tmp_path)
