"""Architectures and heads agree with those of the transformers library."""

import pytest

from tests.models import folders
from workbench.models import spec
from workbench.models.families.transformer.info import architectures


def test_families_agree_with_the_heads_that_transformers_has():
    from transformers.models.auto import modeling_auto as auto

    single = architectures.ARCHITECTURES - architectures.SEQ2SEQ
    assert set(auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES) >= single
    assert set(auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES) >= architectures.SEQ2SEQ
    assert (
        single - set(auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES)
        == architectures.NO_TOKEN_HEAD
    )
    choosing = set(auto.MODEL_FOR_MULTIPLE_CHOICE_MAPPING_NAMES) & single
    assert choosing == architectures.MULTIPLE_CHOICE | architectures.PERMUTED
    assert set(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES) >= architectures.DECODERS
    assert set(auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES) >= architectures.ENCODERS


def test_query_and_value_projections_are_those_of_peft_where_it_has_them():
    constants = pytest.importorskip("peft.utils.constants")
    theirs = constants.TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
    ours = architectures.PROJECTIONS

    # XLNet's are no linear modules
    assert set(ours) == architectures.ARCHITECTURES - architectures.PERMUTED
    shared = set(ours) & set(theirs)
    assert {name: ours[name] for name in shared} == {name: tuple(theirs[name]) for name in shared}


def test_transformer_xl_is_rejected_with_the_reason(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "transfo-xl"}')

    problems = spec.card(tmp_path).problems

    assert any(
        "version 5 of the transformers library no longer has" in problem for problem in problems
    )
    assert not any("known: " in problem for problem in problems)


def test_what_is_rejected_is_not_in_the_library():
    from transformers import CONFIG_MAPPING

    assert not architectures.REJECTED.keys() & {*CONFIG_MAPPING, *architectures.ARCHITECTURES}


@pytest.mark.parametrize("name", ["causal", "is_decoder"])
def test_an_encoder_that_reads_from_left_to_right_predicts_no_masked_words(tmp_path, name):
    """XLM was also trained on next words; the library masks what follows if config.json says so."""
    both = spec.card(folders.make(tmp_path / "both"))
    left = spec.card(folders.make(tmp_path / "left", **{name: True}))

    assert "masked_lm" in both.gives and not both.notes
    assert "masked_lm" not in left.gives and "left to right" in left.notes[0]


def test_language_embeddings_that_are_not_used_are_mentioned(tmp_path):
    many = spec.card(folders.make(tmp_path / "many", use_lang_emb=True, n_langs=15))
    one = spec.card(folders.make(tmp_path / "one", use_lang_emb=True, n_langs=1))

    assert "language embeddings" in many.notes[0] and not one.notes
