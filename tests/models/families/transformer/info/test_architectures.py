"""Architectures and heads agree with those of the transformers library."""

import pytest

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
