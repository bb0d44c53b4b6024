"""Classes of sentence pairs: both texts joined as the tokenizer joins pairs."""

from workbench.tasks.classify.task import Classify
from workbench.tasks.pairs.info import INFO


class Pairs(Classify):
    info = INFO
