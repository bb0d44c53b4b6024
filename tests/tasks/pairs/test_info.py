"""Sentence pairs: classes of documents with two texts."""

from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.pairs.info import INFO
from workbench.tasks.pairs.task import Pairs
from workbench.text.dataset import Record
from workbench.text.document import Document

PAIR = Document("a", (("text", "late"), ("text_b", "ada met")))


def test_both_texts_go_into_one_input(tiny_model):
    prepared = INFO.prepare(Subwords.load(tiny_model), [PAIR], 16)

    assert prepared.inputs[0].text.tolist() == [-1, 0, -1, 1, 1, -1]


def test_gold_is_the_class_of_the_pair():
    assert INFO.gold(Record(PAIR, {}, {"p": ("same",)}), "p") == ClassGold("same")


def test_the_heavy_half_is_that_of_classes_with_the_info_of_pairs():
    task = Pairs()

    assert task.info is INFO and task.native == "sequence"
    assert INFO.output_names(("same", "other")) == ("same", "other")
