"""One class for each pair of texts: classification over both, joined as the tokenizer joins pairs."""

from workbench.tasks.classify import Classify


class Pairs(Classify):
    id = "pairs"
    texts = 2
