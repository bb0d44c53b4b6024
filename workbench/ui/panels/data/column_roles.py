"""Roles of the columns of a file: which ones a column may have, and what follows from a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.base.i18n import _
from workbench.text.labels import MARKS, NUMBERS, SPANS, WRITTEN, Layer

DELIMITED = ("csv", "tsv")
TABULAR = (*DELIMITED, "excel")
CHOICES = "choices"  # the format of multiple choice
TOKEN_TABLE = "token-table"
TOKENS = ("conll", "conllu", TOKEN_TABLE)  # formats with a token per line
RECORDS = ("doccano", "parquet", "huggingface")  # with fields that may hold lists
COLUMNS = (*TABULAR, *RECORDS, *TOKENS, CHOICES)  # formats with roles of columns
CHOICE, LISTED = "choice", "choices"  # roles of a column with one choice, and with all of them
SHARED = ("tag", "spans", "labels", CHOICE)  # roles that several columns may have
CHOICE_ROLES = (CHOICE, LISTED)
ANSWERS, PREFERRED, QUESTION = "answer", "preferred", "question"
NUMBER, TEXT = "score", "written"  # a number, and a written text, of a document
SEVERAL, CHAINS = "labels", "chains"  # several classes in a cell, and spans of chains
LIST = "tokens"  # a list of the tokens of the text
_BESIDE = ("text_b", "label", SEVERAL, "tag", "spans", CHAINS, NUMBER, TEXT)  # not for choices

Titled = list[tuple[str, str]]  # (role, title)


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a file, as they are now.

    columns: all of the file, in order. layers: of the project.
    """

    format: str
    columns: Sequence[str]
    given: Mapping[str, str]  # column → role
    layers: Sequence[Layer]

    @property
    def chooses(self) -> bool:
        """Whether the records are multiple choice."""
        return self.format == CHOICES or any(role in CHOICE_ROLES for role in self.given.values())

    @property
    def mixed(self) -> bool:
        """Whether only some of the records are multiple choice, as in a table of our own."""
        kinds = {role.partition(":")[0] for role in self.given.values()}
        return self.format in TABULAR and CHOICE in kinds and bool(kinds & {*_BESIDE})

    def changed(self, column: str, role: str) -> dict[str, str]:
        """Column → role after another role for a column; "" leaves the column out.

        The role is removed from other columns, except for roles that several may have. With the
        first choice the class becomes the answer, and with the last one they change back.
        """
        roles = {name: its for name, its in self.given.items() if name != column}
        if role.partition(":")[0] not in SHARED:
            roles = {name: its for name, its in roles.items() if its != role}
        if role in CHOICE_ROLES:
            other = next(choice_role for choice_role in CHOICE_ROLES if choice_role != role)
            roles = {name: its for name, its in roles.items() if its != other}
        if role:
            roles[column] = role
        now = Roles(self.format, self.columns, roles, self.layers)
        if now.chooses == self.chooses:
            return roles
        return {name: now._translated(name, its) for name, its in roles.items()}

    def _translated(self, column: str, role: str) -> str:
        """The role that means the same with choices, or without them."""
        kind = role.partition(":")[0]
        if self.chooses:
            answers = f"{ANSWERS}:{self._layers_for_answers()[0]}"
            same = {"label": answers, "text_b": QUESTION}
            others = ("tag", "spans", SEVERAL, CHAINS, NUMBER, TEXT, LIST)
            same |= dict.fromkeys(others, f"meta:{column}")
        else:
            same = {QUESTION: f"meta:{column}"} | dict.fromkeys((ANSWERS, PREFERRED), "label:class")
        return same.get(kind, role)

    # ------------------------------------------------------------ what is offered

    def offered(self, column: str) -> Titled:
        """(role, title) of each role that a column can have."""
        if self.format in TOKENS:
            sentence = [("id", _("Sentence number"))] if self.format == TOKEN_TABLE else []
            return [("", _("Leave out")), ("text", _("Token")), *sentence, *self._of_tags(column)]
        return [
            ("", _("Leave out")),
            ("text", _("Text")),
            *self._of_records(column),
            ("id", _("Key")),
            ("split", _("Split")),
            ("group", _("Group")),
            ("person", _("Annotator")),
            (f"meta:{column}", _("Metadata")),
        ]

    def _of_records(self, column: str) -> Titled:
        """The roles that depend on whether the records are multiple choice."""
        if not self.mixed:
            return self._of_choices(column) if self.chooses else self._of_labels(column)
        choices = dict((*self._of_labels(column), *self._of_choices(column)))
        return list(choices.items())

    def _of_choices(self, column: str) -> Titled:
        answers = [(f"{ANSWERS}:{name}", name) for name in self._layers_for_answers(column)]
        better = [(f"{PREFERRED}:{name}", name) for name in self._preferences(column)]
        return [
            (QUESTION, _("Question")),
            (CHOICE, self._numbered(column)),
            *(((LISTED, _("List of choices")),) if self._may_list(column) else ()),
            *((role, _("Right choice: {layer}", layer=name)) for role, name in answers),
            *((role, _("Preferred choice: {layer}", layer=name)) for role, name in better),
        ]

    def _of_labels(self, column: str) -> Titled:
        pairs = "text_b" in self.given.values()
        titled = _("Class: {layer}")
        default, texts = ("pairs", 2) if pairs else ("class", 1)
        choices = [("text_b", _("Second text")), (LIST, _("Tokens (list)"))]
        choices += self._named("label", titled, column, default, MARKS, texts)
        several = _("Several classes: {layer}")
        choices += self._named(SEVERAL, several, column, default, MARKS, texts, several=True)
        choices += self._of_tags(column)
        choices += self._named("spans", _("Spans: {layer}"), column, "spans", SPANS, 1)
        if self.format in TABULAR:
            chains = _("Chains: {layer}")
            choices += self._named(CHAINS, chains, column, "coreference", SPANS, 1, in_chains=True)
        choices += self._named(NUMBER, _("Number: {layer}"), column, "score", NUMBERS, texts)
        choices += self._named(TEXT, _("Text: {layer}"), column, "text", WRITTEN, texts)
        choices.append((CHOICE, self._numbered(column)))
        return [*choices, (LISTED, _("List of choices"))] if self._may_list(column) else choices

    def _of_tags(self, column: str) -> Titled:
        return self._named("tag", _("Tags: {layer}"), column, "spans", SPANS, 1)

    def _named(
        self,
        kind: str,
        title: str,
        column: str,
        default: str,
        record: str,
        texts: int,
        *,
        several: bool = False,
        in_chains: bool = False,
    ) -> Titled:
        """A role for each layer that fits, and for new ones.

        several: only layers of several classes. in_chains: only those of chains, else none of them.
        """
        names = [
            layer.name
            for layer in self.layers
            if (layer.traits.record, layer.texts) == (record, texts)
            and layer.traits.in_chains == in_chains
            and (layer.traits.several or not several)
        ]
        its, _colon, rest = column.partition(":")
        own = " ".join((rest if its in (*_BESIDE, ANSWERS, PREFERRED) else column).split())
        if self.format in TOKENS and column.isdigit():
            own = f"column {column}"
        names += [*self._now(kind, column), default, own]
        return [
            (f"{kind}:{name}", title.format(layer=name)) for name in dict.fromkeys(names) if name
        ]

    def _now(self, kind: str, column: str) -> list[str]:
        """The layer of the role that a column has, if the role is of this kind."""
        its, _colon, name = self.given.get(column, "").partition(":")
        return [name] if its == kind else []

    def _layers_for_answers(self, column: str = "") -> list[str]:
        kinds = {layer.name: layer.traits for layer in self.layers}
        names = [name for name, kind in kinds.items() if kind.in_choices and not kind.compares]
        return list(dict.fromkeys([*names, *self._now(ANSWERS, column), "answer"]))

    def _preferences(self, column: str) -> list[str]:
        names = [layer.name for layer in self.layers if layer.traits.compares]
        new = "preference" if self.format in TABULAR else ""
        names = [*names, *self._now(PREFERRED, column), new]
        return list(dict.fromkeys(name for name in names if name and self.format in TABULAR))

    def _numbered(self, column: str) -> str:
        """Choices are numbered in the order of their columns."""
        chosen = [name for name in self.columns if name == column or self.given.get(name) == CHOICE]
        return _("Choice {n}", n=chosen.index(column) + 1 if column in chosen else 1)

    def _may_list(self, column: str) -> bool:
        return self.format not in TABULAR or self.given.get(column) == LISTED
