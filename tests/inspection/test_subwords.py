"""Ids, segments, positions and norms of embeddings, against the model's own tables."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base import paths  # noqa: E402
from workbench.inspection.base import entropy_bits  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.inspection.subwords.inspector import SubwordsInspector  # noqa: E402
from workbench.inspection.token_scores.inspector import TokenScoresInspector  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "ada met bob in paris"


def tokens(folder, *texts):
    named = zip(("text", "text_b"), texts, strict=False)
    return SubwordsInspector().run(Subject(folder, device="cpu"), [Document("", tuple(named))], {})


def test_norms_are_those_of_the_embeddings_that_bert_sums(tmp_path):
    folder = tiny_models.make(tmp_path / "bert", "bert")

    result = tokens(folder, TEXT)

    tables = transformers.AutoModel.from_pretrained(folder).embeddings
    ids = torch.tensor([token.id for token in result.tokens])
    parts = (
        tables.word_embeddings(ids),
        tables.position_embeddings(torch.arange(len(ids))),
        tables.token_type_embeddings(torch.zeros_like(ids)),
    )
    wanted = torch.stack([*parts, sum(parts)]).norm(dim=-1).T.tolist()
    for at, row in enumerate(result.embedded):
        norms = (row.token_norm, row.position_norm, row.segment_norm, row.sum_norm)
        assert norms == pytest.approx(wanted[at], abs=1e-5)
        assert (row.segment, row.position) == (0, at)


@pytest.mark.parametrize(
    ("family", "position", "segment"),
    [("roberta", 2, 0), ("gpt2", 0, None), ("distilbert", 0, None), ("llama", None, None)],
)
def test_each_family_names_its_own_positions_and_segments(family, position, segment, tmp_path):
    result = tokens(tiny_models.make(tmp_path / family, family), TEXT)

    first = result.embedded[0]
    assert (first.position, first.segment) == (position, segment)
    assert first.token_norm > 0 and (first.position_norm is None) == (position is None)


def test_the_second_text_of_a_pair_has_segment_one(tiny_run):
    result = tokens(tiny_run("pairs"), "late again", "on time")

    segments = {
        token.field: row.segment
        for token, row in zip(result.tokens, result.embedded, strict=True)
        if not token.special
    }
    assert segments == {"text": 0, "text_b": 1}


def test_the_entropy_is_that_of_the_whole_distribution(tiny_run):
    folder = tiny_run("tag", ("PER", "LOC"))
    subject, document = Subject(folder, device="cpu"), Document("", (("text", TEXT),))

    few = TokenScoresInspector().run(subject, [document], {"top": 1, "logits": False}).tokens[1]
    every = TokenScoresInspector().run(subject, [document], {"top": 5, "logits": False}).tokens[1]

    by_hand = -sum(share * math.log2(share) for _label, share in every.best)
    assert few.entropy == every.entropy == pytest.approx(by_hand, abs=1e-5)
    assert entropy_bits(np.array([0.5, 0.25, 0.25, 0])) == pytest.approx(1.5)


def test_words_that_are_read_by_characters_have_no_id():
    result = tokens(paths.resource("models/starter-elmo"), TEXT)

    assert [(token.piece, token.id) for token in result.tokens] == [
        (word, None) for word in TEXT.split()
    ]
