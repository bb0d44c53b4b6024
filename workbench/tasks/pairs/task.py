"""Sentence pair classification: both texts in one input, joined by the tokenizer."""

from workbench.tasks.classify.task import Classify
from workbench.tasks.pairs.info import INFO


class Pairs(Classify):
    info = INFO
