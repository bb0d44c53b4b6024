"""What a model folder says about itself, and which models are there. Nothing heavy is imported."""

from workbench.models.spec.cards import (
    ModelInfo,
    card,
    check_use,
    front_matter,
    heads,
    read_folder,
    unusable,
)
from workbench.models.spec.config import is_body, longest_input
from workbench.models.spec.families import DECODERS, ENCODERS, FAMILIES, GIVES, NO_TOKEN_HEAD, USES
from workbench.models.spec.places import cached, repository_of, starters
from workbench.models.spec.weights import INDEX, PICKLE, WEIGHTS

__all__ = [
    "DECODERS",
    "ENCODERS",
    "FAMILIES",
    "GIVES",
    "INDEX",
    "NO_TOKEN_HEAD",
    "PICKLE",
    "USES",
    "WEIGHTS",
    "ModelInfo",
    "cached",
    "card",
    "check_use",
    "front_matter",
    "heads",
    "is_body",
    "longest_input",
    "read_folder",
    "repository_of",
    "starters",
    "unusable",
]
