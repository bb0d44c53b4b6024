"""Split texts that were imported without tokens into words, with a segmenter of the registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base import deprecation, extras
from workbench.base.errors import ModelError, SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.base.registry import contract_hint, registry
from workbench.text.document import Document
from workbench.text.segment import is_spaceless

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Advice="SegmenterAdvice")

KIND = "segmenter"  # in the registry
OPTION = "segmenter"  # the setting of a training, stored with its checkpoint
DEFAULT = "rules"  # the words of `text.segment`
LOOKED_AT, MIN_SHARE = 200, 0.2  # documents that a hint looks at; share without spaces
Words = Sequence[tuple[int, int]]


class Segmenter(Protocol):
    """Text → words. Created once per process, without arguments.

    A segmenter that needs a Python package imports it when it is created.
    """

    def words(self, text: str) -> Words:
        """(start, end) in code points of every word, in order, without overlaps and white space."""
        ...


def option() -> Option:
    """The setting of a pretraining that reads words."""
    return Option(
        OPTION,
        "text",
        DEFAULT,
        N_(
            "How texts are split into words, for ELMo and AWD-LSTM; for Chinese, Japanese, Thai "
            "and other texts without spaces. Stored with the model and used whenever it is trained."
        ),
        choices=tuple(titles()),
        title=N_("Word segmenter"),
        check=_check,
    )


def _check(id: str) -> None:
    if id not in registry().ids(KIND):
        raise SpecError(
            _("The word segmenter {id!r} is not installed.", id=id),
            hint=_("Installed: {known}.", known=", ".join(registry().ids(KIND))),
        )


def chosen(options: Mapping[str, Any]) -> str:
    """The id in the settings of a training."""
    return str(options.get(OPTION) or DEFAULT)


def of(options: Mapping[str, Any]) -> Segmenter:
    """The segmenter in the settings of a training. Raises ModelError, see `load`."""
    return load(chosen(options))


def titles() -> dict[str, str]:
    """Id → title of every segmenter, in the order of the registry."""
    return {entry.id: entry.title for entry in registry().all(KIND)}


def for_language(language: str) -> tuple[str, ...]:
    """The segmenters with a dictionary for a language (ISO 639-1)."""
    entries = registry().all(KIND)
    return tuple(e.id for e in entries if language in e.options.get("languages", ()))


def load(id: str) -> Segmenter:
    """Raises ModelError if it is not installed, or if a package that it needs is missing."""
    if id not in registry().ids(KIND):
        raise ModelError(
            _("The word segmenter {id!r} is not installed.", id=id),
            hint=_(
                "Enable the plugin that adds it. A model predicts only with the segmenter that "
                "it was trained with. Installed: {known}.",
                known=", ".join(registry().ids(KIND)),
            ),
        )
    try:
        return _segmenter(id, registry().entry(KIND, id).object)
    except ModuleNotFoundError as error:
        package = (error.name or "?").partition(".")[0]
        raise ModelError(
            _(
                "The word segmenter {id} needs the Python package {package}.",
                id=id,
                package=package,
            ),
            hint=extras.advice(package),
        ) from error


@lru_cache(maxsize=8)
def _segmenter(id: str, _object: str) -> Segmenter:
    segmenter: Segmenter = registry().get(KIND, id)()
    return segmenter


def segmented(documents: Iterable[Document], id: str) -> list[Document]:
    """The documents with the words of a segmenter as tokens of the texts that have none.

    With the default they stay as they are. Raises ModelError, see `load`.
    """
    if id == DEFAULT:
        return list(documents)
    segmenter = load(id)
    return [_with_words(document, segmenter, id) for document in documents]


def missing(id: str) -> str:
    """The Python package that a segmenter needs and that is not installed, "" if there is none."""
    package = str(registry().entry(KIND, id).options.get("package", ""))
    return package if package and find_spec(package) is None else ""


@dataclass(frozen=True)
class SegmenterAdvice:
    """What to know before texts without spaces between words are read by the default segmenter.

    names: segmenters for their language. remedy: the first of them that can be used, "" for none;
    then `package` is the Python package that the first one needs.
    """

    names: tuple[str, ...]
    remedy: str = ""
    package: str = ""

    @property
    def message(self) -> str:
        """What happens, and the setting of a training that changes it."""
        sentence = _(
            "The texts have no spaces between words, so letters or whole sentences are read as "
            "words. Choose a word segmenter (setting {setting}) to read whole words: {names}.",
            setting=OPTION,
            names=", ".join(self.names),
        )
        return f"{sentence} {self.install}".strip()

    @property
    def install(self) -> str:
        """Which package is missing, and where it is."""
        if not self.package:
            return ""
        needs = _("{name} needs the package {package}.")
        needs = needs.format(name=self.names[0], package=self.package)
        return f"{needs} {extras.advice(self.package)}"


def advice(texts: Iterable[str]) -> SegmenterAdvice | None:
    """None for texts of which few are mostly in a script without spaces; a name in one is not."""
    from workbench.text.language import language_of  # imports regex, which no prediction needs

    all_texts = list(texts)
    spaceless = [text for text in all_texts if is_spaceless(text)]
    if not spaceless or len(spaceless) < MIN_SHARE * len(all_texts):
        return None
    _script, language = language_of(spaceless)
    names = for_language(language) or tuple(other for other in titles() if other != DEFAULT)
    ready = [name for name in names if not missing(name)]
    return (
        SegmenterAdvice(names, *ready[:1])
        if ready
        else SegmenterAdvice(names, package=missing(names[0]))
    )


def advice_for(documents: Iterable[Document]) -> SegmenterAdvice | None:
    """See `advice`. Texts with tokens count for nothing."""
    return advice(
        content
        for document in islice(documents, LOOKED_AT)
        for name, content in document.texts
        if not document.tokens.get(name)
    )


def hint(documents: Iterable[Document], id: str) -> str:
    """What to know before the documents are read with a segmenter; "" if it is no default."""
    advised = advice_for(documents) if id == DEFAULT else None
    return advised.message if advised is not None else ""


def _with_words(document: Document, segmenter: Segmenter, id: str) -> Document:
    offsets = {
        name: _checked(segmenter.words(text), text, id)
        for name, text in document.texts
        if not document.tokens.get(name)
    }
    return replace(document, tokens={**document.tokens, **offsets}) if offsets else document


def _checked(words: Words, text: str, id: str) -> tuple[tuple[int, int], ...]:
    """Raises SpecError for words outside the text, empty, overlapping or not in order."""
    try:
        last, offsets = 0, tuple((int(start), int(end)) for start, end in words)
    except (TypeError, ValueError) as error:
        message = _("The word segmenter {name} returned {words}, expected pairs (start, end).")
        excerpt = repr(words)[:60]
        raise SpecError(message.format(name=id, words=excerpt), hint=contract_hint(id)) from error
    for start, end in offsets:
        if not last <= start < end <= len(text):
            raise SpecError(
                _(
                    "The word segmenter {id} returned the word {start}–{end} of {text!r}.",
                    id=id,
                    start=start,
                    end=end,
                    text=text[:40],
                ),
                hint=_("Words must be in order, within the text, and must not overlap."),
            )
        last = end
    return offsets
