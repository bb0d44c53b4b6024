"""Architectures and heads agree with those of the transformers library."""

from workbench.models.families.transformer.info import architectures


def test_families_agree_with_the_heads_that_transformers_has():
    from transformers.models.auto import modeling_auto as auto

    assert set(auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES) >= architectures.ARCHITECTURES
    assert (
        architectures.ARCHITECTURES - set(auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES)
        == architectures.NO_TOKEN_HEAD
    )
    assert set(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES) >= architectures.DECODERS
    assert set(auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES) >= architectures.ENCODERS
