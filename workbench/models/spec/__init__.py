"""Model descriptions and lists of available models. Imports nothing heavy."""

from workbench.models.formats.weights import INDEX, PICKLE, WEIGHTS, shapes
from workbench.models.spec.cards import (
    DESCRIPTION,
    card,
    chain,
    check_gives,
    front_matter,
    gives_words,
    languages,
    preparer,
    read_folder,
    segmenter,
    unusable,
    vectors_file,
)
from workbench.models.spec.creation import NewModel, new_model, new_models
from workbench.models.spec.info import GIVES, FamilyInfo, Match, ModelInfo
from workbench.models.spec.places import (
    ADAPTED,
    ADAPTERS,
    cached,
    installed,
    known_architectures,
    published,
    repository_of,
    starters,
)

__all__ = [
    "ADAPTED",
    "ADAPTERS",
    "DESCRIPTION",
    "GIVES",
    "INDEX",
    "PICKLE",
    "WEIGHTS",
    "FamilyInfo",
    "Match",
    "ModelInfo",
    "NewModel",
    "cached",
    "installed",
    "card",
    "chain",
    "check_gives",
    "front_matter",
    "languages",
    "gives_words",
    "known_architectures",
    "new_model",
    "new_models",
    "preparer",
    "published",
    "read_folder",
    "repository_of",
    "segmenter",
    "shapes",
    "starters",
    "unusable",
    "vectors_file",
]
