"""Targets, losses and decoding of coreference."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from workbench.models.base import States
from workbench.runtime import chains
from workbench.runtime.candidates import WordStates
from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks.base import IGNORED, Features
from workbench.tasks.coreference.head import ChainHead
from workbench.tasks.coreference.info import ChainGold
from workbench.tasks.coreference.task import Coreference
from workbench.text.document import Document
from workbench.text.spans import Span

TASK = Coreference()


@pytest.fixture
def subwords(tiny_model):
    return Subwords.load(tiny_model)


def features(preparer, *texts_and_chains, length=64, **options):
    texts, golds = zip(*texts_and_chains, strict=True)
    documents = [Document(str(at), (("text", text),)) for at, text in enumerate(texts)]
    prepared = TASK.info.prepare(preparer, documents, length)
    return Features(prepared, TASK.targets(prepared, golds, ("m",), options))


def gold(*chains_of_places):
    return ChainGold(
        tuple(tuple(Span(*place, "m") for place in chain) for chain in chains_of_places)
    )


# ---------------------------------------------------------------- targets


def test_mentions_are_numbered_by_words_with_their_chain(subwords):
    chains_of_text = gold([(0, 3), (10, 14)], [(4, 9)])  # ada, late; trams

    targets = features(subwords, ("ada trams late", chains_of_text)).targets

    assert targets["firsts"][0].tolist() == [1, 2, 4]
    assert targets["mentions"][0].tolist() == [[0, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 1]]


def test_mentions_of_all_windows_are_listed_at_the_first(subwords):
    text = " ".join(["tram bus late ada bob"] * 20)

    targets = features(
        subwords, (text, gold([(0, 4), (len(text) - 3, len(text))])), length=16
    ).targets

    assert sum(map(len, targets["firsts"])) == 100
    assert targets["mentions"][0].tolist() == [[0, 0, 0, 0], [99, 0, 0, 0]]
    assert [len(rows) for rows in targets["mentions"][1:]] == [0] * (len(targets["firsts"]) - 1)
    assert [int(start) for start in targets["start"]] == [1] + [0] * (len(targets["start"]) - 1)


def test_all_windows_of_a_document_are_one_item_of_a_batch(subwords):
    text = " ".join(["tram bus late ada bob"] * 20)

    items = features(subwords, (text, gold()), ("ada met bob", gold()), length=16)

    assert len(items.lengths) == 2
    assert len(items.positions([0])) == len(items.prepared.of(0)) > 1


def test_mentions_with_too_many_words_are_not_learned(subwords):
    targets = features(subwords, ("ada trams late", gold([(0, 14), (0, 3)])), longest_span=2)

    assert targets.targets["mentions"][0].tolist() == [[0, 0, 0, 0]]


def test_equal_words_have_equal_numbers_in_any_case():
    numbers = chains.forms("The tram and the Tram".split(), 2)

    assert numbers[0, 1] == numbers[3, 1] and numbers[0, 0] != numbers[1, 0]
    assert numbers[0, 1] != numbers[1, 1]


# ---------------------------------------------------------------- losses


@pytest.fixture
def head():
    torch.manual_seed(3)
    head = ChainHead(6, 1, longest=2, per_word=9.0, hidden=5).eval()
    for parameter in head.parameters():
        nn.init.normal_(parameter)
    return head.requires_grad_(False)


class Holder:
    def __init__(self, head):
        self.head = head


def outputs_of(head, tokens):
    states = States((torch.randn(1, tokens, 6),), torch.ones(1, tokens, dtype=torch.bool), None)
    return head(states)


def all_pairs(head, words, forms):
    """Candidates of the words in text order, with their score as mentions, and the score of every
    antecedent, as the module of `runtime.chains` states it.
    """
    units = head.spans(words)[0]
    places = [(at, more) for at in range(len(units)) for more in (0, 1) if at + more < len(units)]
    mentions = [units[place] for place in places]
    scores = [float(head.output(mention)) for mention in mentions]
    sure = nn.functional.logsigmoid(torch.tensor(scores))
    links = np.full((len(places), len(places)), -np.inf)
    for i, j in itertools.product(range(len(places)), repeat=2):
        if j >= i:
            continue
        distance = int(chains.bucket(np.array(places[i][0] - places[j][0])))
        hidden = head.first(mentions[i]) + head.second(mentions[j])
        hidden = hidden + head.product(mentions[i] * mentions[j]) + head.distances.weight[distance]
        if forms[places[i]] == forms[places[j]]:
            hidden = hidden + head.same
        coarse = mentions[i] @ head.coarse.weight @ mentions[j]
        links[i, j] = float(sure[i] + sure[j] + coarse + head.link(torch.relu(hidden)))
    return places, np.array(scores), links


def test_the_losses_are_those_of_every_mention_and_of_every_antecedent(head):
    words = "a b a c".split()
    outputs, forms = outputs_of(head, 4), chains.forms(words, 2)
    targets = {
        "start": torch.tensor([1]),
        "firsts": torch.arange(4)[None],
        "lasts": torch.arange(4)[None],
        "forms": torch.from_numpy(forms)[None],
        "mentions": torch.tensor([[[0, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0], [1, 1, 0, 1]]]),
    }

    losses = TASK.losses(Holder(head), outputs, targets)

    places, scores, links = all_pairs(
        head, head.words(outputs, targets["firsts"], targets["lasts"]), forms
    )
    chain_of = {(0, 0): 0, (2, 0): 0, (3, 0): 0, (1, 1): 1}
    mentions = marginal = 0.0
    for i, place in enumerate(places):
        mentions -= -np.logaddexp(0, -scores[i] if place in chain_of else scores[i])
        ranks = np.append(links[i], 0.0)
        right = [
            j for j in range(i) if place in chain_of and chain_of.get(places[j]) == chain_of[place]
        ]
        right = right or [len(places)]
        marginal += np.logaddexp.reduce(ranks) - np.logaddexp.reduce(ranks[right])
    assert float(losses["mentions"].total) == pytest.approx(mentions, rel=1e-5)
    assert float(losses["task"].total) == pytest.approx(marginal, rel=1e-4)
    assert int(losses["task"].count) == int(losses["mentions"].count) == 4


def test_a_document_in_two_windows_has_the_loss_of_one(head):
    outputs, forms = outputs_of(head, 6), torch.from_numpy(chains.forms("a b c a b d".split(), 2))
    mentions = torch.tensor([[0, 0, 0, 0], [4, 0, 0, 0]])
    whole = {
        "start": torch.tensor([1]),
        "firsts": torch.arange(6)[None],
        "lasts": torch.arange(6)[None],
        "forms": forms[None],
        "mentions": mentions[None],
    }
    halves = {
        "start": torch.tensor([1, 0]),
        "firsts": torch.tensor([[0, 1, 2], [0, 1, 2]]),
        "lasts": torch.tensor([[0, 1, 2], [0, 1, 2]]),
        "forms": forms.view(2, 3, 2),
        "mentions": torch.stack([mentions, torch.full_like(mentions, IGNORED)]),
    }
    split = {name: values.view(2, 3, -1) for name, values in outputs.items()}

    one, two = TASK.losses(Holder(head), outputs, whole), TASK.losses(Holder(head), split, halves)

    for name in one:
        assert float(one[name].total) == pytest.approx(float(two[name].total), rel=1e-5)


def test_a_batch_without_words_has_no_loss(subwords, head):
    items = features(subwords, (" ", gold()))
    targets = {name: torch.from_numpy(np.stack(rows)) for name, rows in items.targets.items()}

    losses = TASK.losses(Holder(head), outputs_of(head, 2), targets)

    assert {float(loss.total) for loss in losses.values()} == {0.0}


# ---------------------------------------------------------------- decoding


def test_the_best_antecedents_of_decoding_are_those_of_training(head):
    words = "a b a c b".split()
    outputs = outputs_of(head, 5)
    of_words = head.words(outputs, torch.arange(5)[None], torch.arange(5)[None])
    places, scores, links = all_pairs(head, of_words, chains.forms(words, 2))
    arrays = {name: values[0].numpy() for name, values in of_words.items()}
    scorer = head.chain_scorer()
    states = WordStates(arrays["starts"], arrays["ends"], arrays["inside"])

    made = chains.decode(scorer, states, words, singletons=False)

    # By hand: candidates that cross a better one are left out, and the best antecedent is followed.
    chosen = [
        i
        for i, (at, more) in enumerate(places)
        if not any(
            scores[j] > scores[i] and (other < at <= other + wide < at + more
                                       or at < other <= at + more < other + wide)
            for j, (other, wide) in enumerate(places)
        )
    ]  # fmt: skip
    chain_of, expected = {}, []
    for i in sorted(chosen, key=lambda i: (places[i][0], places[i][0] + places[i][1])):
        before = [j for j in chain_of if links[i, j] > 0]
        if before:
            chain_of[i] = chain_of[max(before, key=lambda j: links[i, j])]
        else:
            chain_of[i] = len(expected)
            expected.append([])
        expected[chain_of[i]].append((places[i][0], sum(places[i])))
    assert [[(item.first, item.last) for item in chain] for chain in made] == [
        chain for chain in expected if len(chain) > 1
    ]


def test_weights_for_decoding_are_the_same_after_they_were_written(head):
    scorer = head.chain_scorer()

    again = chains.ChainScorer.from_json(scorer.to_json(), 1)

    assert np.array_equal(again.links.coarse, scorer.links.coarse)
    assert again.per_word == scorer.per_word and again.mentions.longest == 2
    with pytest.raises(ValueError, match="labels"):
        chains.ChainScorer.from_json(scorer.to_json(), 3)
