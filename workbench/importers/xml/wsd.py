"""All-words word sense disambiguation: NAME.data.xml with NAME.gold.key.txt beside it.

A sentence is a document, its words are tokens, and each instance is a span with its sense. The keys
are those of WordNet, one instance per line: its id, then one or more senses.

Source: Raganato, Camacho-Collados and Navigli 2017 (the format of the evaluation framework).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers import foreign_xml
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
)
from workbench.importers.joining import join
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.spans import Span

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

DATA, KEYS = ".data.xml", ".gold.key.txt"
WORD, INSTANCE, SENTENCE = "wf", "instance", "sentence"


@dataclass
class _Sentence:
    line: int
    key: str
    group: str
    words: list[str] = field(default_factory=list)
    instances: dict[int, str] = field(default_factory=dict)  # index of the word → id


class WsdImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if foreign_xml.has_senses(head):
            return Guess(0.97, _("words and instances with lemmas, as for word senses"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        keys, rows = _keys(source), list[TableRow]()
        for sentence in _sentences(source):
            for at, id in sentence.instances.items():
                senses = " ".join(keys.get(id, ()))
                rows.append(TableRow(sentence.line, (id, sentence.words[at], senses)))
            if len(rows) >= limit:
                break
        why = _(
            "sentences with word senses; the senses are in {name}", name=keys_of(source.path).name
        )
        return Table((_("id"), _("word"), _("senses")), tuple(rows[:limit]), (), why)

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: instances of word senses have no columns.", file=source.name),
                hint=_("Omit --map; --layer chooses the layer of the senses."),
            )
        keys, more, without = _keys(source), 0, 0
        for sentence in _sentences(source):
            instance_senses = [keys.get(id, ()) for id in sentence.instances.values()]
            more += sum(len(senses) > 1 for senses in instance_senses)
            without += sum(not senses for senses in instance_senses)
            try:
                record = _record(sentence, keys, options.span_layer)
                check(record)
                yield Row(sentence.line, record)
            except Fault as fault:
                yield Skipped(sentence.line, str(fault))
        if more:
            message = ngettext(
                "{n:,} instance has several senses; the first is imported.",
                "{n:,} instances have several senses; the first of each is imported.",
                more,
            )
            yield Remark(message)
        if without:
            message = ngettext(
                "{n:,} instance has no sense in {name}.",
                "{n:,} instances have no sense in {name}.",
                without,
            )
            yield Remark(message.format(n=without, name=keys_of(source.path).name))


def keys_of(path: Path) -> Path:
    """The file of the senses that belongs to a file of sentences."""
    name = path.name
    stem = name[: -len(DATA)] if name.lower().endswith(DATA) else path.stem
    return path.with_name(stem + KEYS)


def _keys(source: Source) -> dict[str, tuple[str, ...]]:
    """Instance → senses. Raises ImportFailed if the file is missing."""
    path = source.beside(keys_of(source.path))
    if not path.is_file():
        raise ImportFailed(
            _("The senses {keys} of {name} are missing.", keys=path.name, name=source.name),
            hint=_("Put both files into the same folder."),
        )
    lines = (line.split() for line in Source(path).lines())
    return {words[0]: tuple(words[1:]) for words in lines if words}


def _record(sentence: _Sentence, keys: dict[str, tuple[str, ...]], layer: str) -> Record:
    text, offsets = join(sentence.words)
    spans = tuple(
        Span(*offsets[at], keys[id][0]) for at, id in sentence.instances.items() if keys.get(id)
    )
    document = Document(
        sentence.key, ((TEXT, text),), group=sentence.group or None, tokens={TEXT: offsets}
    )
    return Record(document, {layer: "submitted"}, {}, {layer: spans})


def _sentences(source: Source) -> Iterator[_Sentence]:
    """Raises ImportFailed for a file that is no XML."""
    from xml.etree import ElementTree

    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    group, now, number = "", _Sentence(0, "", ""), 0
    try:
        for number, line in enumerate(source.lines(), 1):
            parser.feed(line + "\n")
            for event, element in parser.read_events():
                if event == "start" and element.tag == "text":
                    group = element.get("id", "")
                elif event == "start" and element.tag == SENTENCE:
                    now = _Sentence(number, element.get("id", ""), group)
                elif event == "end" and element.tag in (WORD, INSTANCE):
                    _add(now, element)
                elif event == "end" and element.tag == SENTENCE:
                    element.clear()
                    if now.words:
                        yield now
        if not source.cut:
            parser.close()  # raises an error for a file without its end
    except ElementTree.ParseError as error:
        raise ImportFailed(
            _("{file}, line {line}: {error}.", file=source.name, line=number, error=error),
            hint=_("The file is not valid XML; it may be incomplete."),
        ) from error


def _add(sentence: _Sentence, element: Element) -> None:
    word = " ".join((element.text or "").split())
    if not word:
        return
    if element.tag == INSTANCE and element.get("id"):
        sentence.instances[len(sentence.words)] = element.get("id", "")
    sentence.words.append(word)
