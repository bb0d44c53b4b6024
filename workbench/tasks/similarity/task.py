"""Regression on pairs: both texts in one input, joined by the tokenizer."""

from workbench.tasks.regress.task import Regress
from workbench.tasks.similarity.info import INFO


class Similarity(Regress):
    info = INFO
