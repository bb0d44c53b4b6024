"""The rungs of the ladder experiment as data, and which of them the installed models allow.

Each rung adds one step of transfer to the one before: Mikolov et al. 2013 and Pennington et al.
2014 (static vectors), Ma and Hovy 2016 (character CNN), Peters et al. 2018 (ELMo), Akbik et al.
2018 (Flair), Devlin et al. 2019 (fine-tuning). The adapted one first reads the texts of the project
(Howard and Ruder 2018).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Formatter
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.models.spec import ModelInfo
from workbench.models.spec import card as read_card


@dataclass(frozen=True)
class NamedModel:
    """A model that rungs refer to by a name in braces.

    models: the first usable one is taken; otherwise the first usable model of the family.
    """

    name: str
    title: str
    models: tuple[str, ...]
    family: str = ""


_KNOWN = (
    NamedModel("recurrent", N_("Network on the embeddings"), ("bilstm",)),
    NamedModel(
        "vectors", N_("Word vectors"), ("starter-glove", "starter-vectors"), family="vectors"
    ),
    NamedModel("elmo", N_("ELMo"), ("starter-elmo",), family="elmo"),
    NamedModel("forward", N_("Flair, forward"), ("starter-flair-forward",)),
    NamedModel("backward", N_("Flair, backward"), ("starter-flair-backward",)),
    NamedModel("transformer", N_("Fine-tuned transformer"), ("starter-bert",)),
)
PARTS = {part.name: part for part in _KNOWN}


@dataclass(frozen=True)
class Rung:
    """One system of the ladder: a model and its settings, as text with parts in braces.

    usual: whether it belongs to the ladder if none are chosen. usually: defaults of its own, which
    settings of all rungs replace, unlike `options`.
    """

    id: str
    title: str
    model: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    usual: bool = True
    usually: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that it needs."""
        texts = (self.model, *self.options.values())
        fields = (name for text in texts for _text, name, *_rest in Formatter().parse(text))
        return tuple(dict.fromkeys(name for name in fields if name))

    def filled(self, parts: Mapping[str, str]) -> Rung:
        """With the names of models instead of parts."""
        options = {name: text.format_map(parts) for name, text in self.options.items()}
        return replace(self, model=self.model.format_map(parts), options=options)


def _recurrent(id: str, title: str, embeddings: str, *, usual: bool = True) -> Rung:
    """A BiLSTM, which is trained from scratch and needs more epochs than a pretrained model."""
    options = {"embeddings": embeddings}
    return Rung(id, title, "{recurrent}", options, usual, {"epochs": "20"})


def _frozen(id: str, title: str, model: str) -> Rung:
    """A trained head on the states of one frozen model."""
    return Rung(id, title, model, {"method": "frozen"}, usual=False)


# Each rung keeps the embeddings of the one before: the frozen vectors know 87% of the words of
# CoNLL-2000, and alone they lose to trained embeddings there (F1 78 after 3 epochs, against 91).
RUNGS = (
    _recurrent("random", N_("Random BiLSTM"), "words"),
    _recurrent("vectors", N_("+ word vectors"), "words+{vectors}"),
    _recurrent("characters", N_("+ character CNN"), "words+{vectors}+chars"),
    _recurrent("elmo", N_("+ ELMo"), "words+{vectors}+chars+{elmo}"),
    _recurrent("flair", N_("+ Flair"), "words+{vectors}+chars+{forward}+{backward}", usual=False),
    _frozen("frozen-vectors", N_("Frozen word vectors"), "{vectors}"),
    _frozen("frozen-elmo", N_("Frozen ELMo"), "{elmo}"),
    _frozen("frozen-flair", N_("Frozen Flair"), "{forward}"),
    _frozen("frozen-bert", N_("Frozen BERT"), "{transformer}"),
    Rung("bert", N_("Fine-tuned BERT"), "{transformer}"),
    Rung("adapted", N_("Adapted BERT"), "{transformer}", {"adapt_epochs": "1"}, usual=False),
)


@dataclass(frozen=True)
class Available:
    """A rung with the models it uses; `missing` says why it cannot be trained, "" if it can."""

    rung: Rung
    card: ModelInfo | None
    missing: str = ""


def available(
    rung: Rung, cards: Sequence[ModelInfo], chosen: Mapping[str, str] | None = None
) -> Available:
    """Find the models of a rung; `chosen`: part → name or path of a model."""
    known = {card.name: card for card in cards}
    usable = [card for card in cards if card.usable]
    names = {part: _model_of(PARTS[part], usable) for part in rung.parts}
    names |= {part: model for part, model in (chosen or {}).items() if part in names}
    filled = rung.filled(names)
    for name in (*names.values(), filled.model):
        card = known.get(name) or (read_card(name) if Path(name).exists() else None)
        if card is None:
            return Available(filled, None, _("{model} is not installed", model=name))
        if not card.usable:
            reason = _("{model} is not usable: {problem}", model=name, problem=card.problems[0])
            return Available(filled, None, reason)
    return Available(filled, card)


def _model_of(part: NamedModel, usable: Sequence[ModelInfo]) -> str:
    """The model that is used for a part unless another one is chosen."""
    names = [card.name for card in usable]
    same = (card.name for card in usable if part.family and card.family == part.family)
    return next((name for name in part.models if name in names), next(same, part.models[0]))


def check_parts(chosen: Mapping[str, str]) -> None:
    """Raises SpecError for a part that no rung has."""
    if unknown := sorted(set(chosen) - set(PARTS)):
        raise SpecError(
            _("The ladder has no part {name!r}.", name=unknown[0]),
            hint=_("Parts: {names}.", names=", ".join(PARTS)),
        )


def named(ids: Sequence[str], usual: Sequence[str] = ()) -> tuple[Rung, ...]:
    """The rungs with these ids; without any, `usual`, by default those of the ladder. Raises
    SpecError.
    """
    known = {rung.id: rung for rung in RUNGS}
    if unknown := [id for id in ids if id not in known]:
        raise SpecError(
            _("The ladder has no rung {name!r}.", name=unknown[0]),
            hint=_("Rungs: {names}. Others can be added with --add.", names=", ".join(known)),
        )
    chosen_ids = set(ids) or set(usual) or {rung.id for rung in RUNGS if rung.usual}
    return tuple(rung for rung in RUNGS if rung.id in chosen_ids)


def parse(text: str) -> Rung:
    """`Title: MODEL KEY=VALUE …` → a custom configuration. Raises SpecError."""
    title, _colon, rest = text.partition(":")
    try:
        model, *settings = shlex.split(rest)
    except ValueError:
        raise _unreadable(text) from None
    pairs = [setting.partition("=") for setting in settings]
    if not title.strip() or not all(name and sign for name, sign, _value in pairs):
        raise _unreadable(text)
    return own(title, model, {name: value for name, _sign, value in pairs})


def own(title: str, model: str, options: Mapping[str, str]) -> Rung:
    """A custom configuration; its id is the title. Raises SpecError without a title."""
    if not title.strip():
        raise SpecError(_("The rung has no title."), hint=_("Type a title for it."))
    name = "-".join(title.casefold().split())
    values = {name: _escaped(value) for name, value in options.items()}
    return Rung(name, title.strip(), _escaped(model), values)


def _unreadable(text: str) -> SpecError:
    return SpecError(
        _("{text!r} is not a rung.", text=text),
        hint=_(
            'The format is "Title: MODEL KEY=VALUE …", for example "Frozen BERT: starter-bert '
            'method=frozen layers=mix".'
        ),
    )


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def to_json(rung: Rung) -> dict[str, Any]:
    return {
        "id": rung.id,
        "title": _(rung.title),
        "model": rung.model,
        "options": dict(rung.options),
    }
