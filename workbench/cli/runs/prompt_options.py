"""Options of commands that ask prompts: the examples, how the model answers, how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.base.i18n import _
from workbench.cli.choices import explicit_options
from workbench.prompting.spec import (
    ANSWER_OPTIONS,
    ARRANGEMENTS,
    CALIBRATION,
    CALIBRATIONS,
    DECODING_OPTIONS,
    FREE_TEXT_OPTIONS,
    MOST_ORDERS,
    MOST_SHOTS,
    PINNED,
    SELECTIONS,
    SHUFFLED,
    AnswerSpec,
    Decoding,
    stop_texts,
)

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.project.project import Project
    from workbench.prompting.spec import PromptSpec
    from workbench.text.labels import Layer

Command = TypeVar("Command", bound=Callable[..., Any])


def _words(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """label → its words, from LABEL=WORD. Raises BadParameter."""
    words: dict[str, tuple[str, ...]] = {}
    for value in values:
        label, sign, word = value.partition("=")
        if not sign or not word:
            raise click.BadParameter(_("{value!r} is not of the form LABEL=WORD.", value=value))
        words[label] = (*words.get(label, ()), word)
    return words


def option_of(option: Option, name: str = "") -> Callable[[Command], Command]:
    """The command line option of a setting."""
    name = name or option.name.replace("_", "-")
    bounds: dict[str, Any] = {"min": option.low, "max": option.high}
    more: dict[str, Any] = {"default": option.default, "show_default": option.kind != "text"}
    if option.kind == "bool":
        more = {"is_flag": True}
    elif option.choices:
        more["type"] = click.Choice(option.choices)
    elif option.kind in ("int", "float"):
        more["type"] = (click.IntRange if option.kind == "int" else click.FloatRange)(**bounds)
    return click.option(f"--{name}", help=_(option.help), **more)


def _texts(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """label → its description, from LABEL=TEXT. Raises BadParameter."""
    texts: dict[str, str] = {}
    for value in values:
        label, sign, text = value.partition("=")
        if not label or not sign:
            raise click.BadParameter(_("{value!r} is not of the form LABEL=TEXT.", value=value))
        texts[label] = text
    return texts


OPTIONS = (
    click.option(
        "--instruction", default="", help=_("The variable `instruction` of the template.")
    ),
    click.option(
        "--description",
        "descriptions",
        multiple=True,
        callback=_texts,
        metavar="LABEL=TEXT",
        help=_("Description of a label in the prompt, in place of that of the layer."),
    ),
    click.option(
        "--calibration",
        type=click.Choice(CALIBRATIONS),
        default=CALIBRATION,
        show_default=True,
        help=_(
            "Divide the probability of each label by its prior: content-free takes that of the "
            "texts “N/A”, a mask token and the empty text, pmi (pointwise mutual information) that "
            "of the empty text only, batch the mean over the documents of the run."
        ),
    ),
    click.option(
        "--word",
        "words",
        multiple=True,
        callback=_words,
        metavar="LABEL=WORD",
        help=_(
            "A word that stands for a label in place of its name; a label may have several. "
            "Without a label, =WORD, it stands for no label, span or answer."
        ),
    ),
    click.option(
        "--form",
        metavar="ID",
        help=_(
            "How the model answers: scored (probability of the label words), first, choice, "
            "several, number, quotes, tags, answer, json, regex or reason. [default: the first "
            "one that fits the layer]"
        ),
    ),
    *map(option_of, ANSWER_OPTIONS),
    click.option("--chat", is_flag=True, help=_("Send the prompt as a conversation.")),
    *(  # `--seed` is that of the examples
        option_of(option, "sampling-seed" if option.name == "seed" else "")
        for option in DECODING_OPTIONS
    ),
)  # fmt: skip


def _with(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def free_text_options(command: Command) -> Command:
    """Adds FREE_TEXT_OPTIONS to a command, which gets them by name."""
    return _with(command, [*map(option_of, FREE_TEXT_OPTIONS)])


def answer_options(command: Command) -> Command:
    """Adds OPTIONS to a command, which gets them by name."""
    return _with(command, OPTIONS)


def settings(
    options: Mapping[str, Any], layer: Layer, base: PromptSpec | None = None
) -> dict[str, Any]:
    """The settings of a PromptSpec from the values of OPTIONS.

    base: settings that only the options of the command line replace.
    """
    from workbench.operations.prompts import prompt_reading

    def chosen(names: Iterable[str]) -> dict[str, Any]:
        """Option of a setting → its value."""
        options_of = {name: "sampling_seed" if name == "seed" else name for name in names}
        return {
            name: options[option]
            for name, option in options_of.items()
            if base is None or explicit_options(option)
        }

    answer = replace(
        base.answer if base is not None else AnswerSpec(),
        **chosen(option.name for option in ANSWER_OPTIONS),
    )
    if options["form"]:
        answer = replace(answer, form=options["form"])
    elif base is None:
        answer = prompt_reading.fitting_answer(layer, answer)
    values = chosen(option.name for option in DECODING_OPTIONS)
    if "stop" in values:
        values["stop"] = stop_texts(values["stop"])
    return {
        "answer": answer,
        "decoding": replace(base.decoding if base is not None else Decoding(), **values),
        **chosen(("instruction", "descriptions", "words", "chat", "calibration")),
    }


SEND_HELP = _(
    "Agree that texts of the project are sent to the server or cluster, which is asked otherwise."
)
yes_send = click.option("--yes-send", is_flag=True, help=SEND_HELP)


# ---------------------------------------------------------------- examples

_DRAWN_OPTIONS = (
    click.option(
        "--shots",
        type=click.IntRange(0, MOST_SHOTS),
        default=0,
        show_default=True,
        help=_("Number of labelled examples in each prompt, from the training split."),
    ),
    click.option(
        "--order",
        type=click.Choice(SELECTIONS),
        default="balanced",
        show_default=True,
        help=_(
            "How examples are selected. By vectors, for each document: nearest, nearest-balanced "
            "(rounds over the labels), mmr (maximal marginal relevance: similar to the document, "
            "different from each other). The same for all: balanced, random, uncertain (high "
            "entropy under a run), pinned. The document itself and similar texts are left out."
        ),
    ),
    click.option(
        "--seed", type=int, default=1, show_default=True, help=_("Random seed of the examples.")
    ),
)
SELECTION_OPTIONS = (  # which are the same for every row of a grid
    click.option("--every-label", is_flag=True, help=_("Each label occurs, if there is room.")),
    click.option(
        "--arrangement",
        type=click.Choice(ARRANGEMENTS),
        default="fixed",
        show_default=True,
        help=_(
            "Order in the prompt: fixed (the most important first), shuffled by the seed, "
            "nearest-last."
        ),
    ),
    click.option(
        "--orders",
        type=click.IntRange(1, MOST_ORDERS),
        default=4,
        show_default=True,
        help=_("For shuffled: number of orders that are scored; the first one gives the answers."),
    ),
    click.option(
        "--vectors",
        metavar="MODEL",
        default="",
        help=_("Pretrained model whose vectors compare texts. [default: the first one]"),
    ),
    click.option(
        "--diversity",
        type=click.FloatRange(0, 1),
        default=0.5,
        show_default=True,
        help=_("For mmr: weight of the difference between examples."),
    ),
    click.option(
        "--uncertain-run",
        metavar="RUN",
        help=_("For uncertain: the run. [default: the newest one of the layer]"),
    ),
)
_PIN = click.option(
    "--pin",
    "pins",
    multiple=True,
    metavar="KEY",
    help=_("Document to show as an example, again for more; then the order is pinned."),
)


def example_options(command: Command) -> Command:
    """Adds all options of examples to a command, which gets them by name."""
    return _with(command, (*_DRAWN_OPTIONS, *SELECTION_OPTIONS, _PIN))


def selection_options(command: Command) -> Command:
    """Adds those of examples that are the same for every row of a grid."""
    return _with(command, SELECTION_OPTIONS)


def selection(
    project: Project, layer: Layer, options: Mapping[str, Any], base: PromptSpec | None = None
) -> dict[str, Any]:
    """The settings of a prompt from the values of options of examples. Raises WorkbenchError.

    options: those of a grid have neither number, order, seed nor pinned documents. base: settings
    that only the options of the command line replace.
    """
    from workbench.operations.prompts import prompt_examples
    from workbench.operations.runs import results

    names = ("shots", "order", "seed", "every_label", "arrangement", "vectors", "diversity")
    settings = {
        name: options[name]
        for name in names
        if name in options and (base is None or explicit_options(name))
    }
    if base is None or explicit_options("orders", "arrangement"):
        arrangement = settings.get("arrangement", base.arrangement if base else "")
        settings["orders"] = options["orders"] if arrangement == SHUFFLED else 1
    run, pins = options["uncertain_run"], options.get("pins")
    if run:
        settings["source_run"] = results.run_named(project, run).id
    if pins:
        settings["pinned"] = prompt_examples.pin(project, layer, pins)
        explicit = explicit_options("order", "shots")
        settings["order"] = options["order"] if "--order" in explicit else PINNED
        settings["shots"] = options["shots"] if "--shots" in explicit else len(settings["pinned"])
    if settings.get("order") == PINNED and not pins and not (base and base.pinned):
        raise click.UsageError(_("--order pinned needs --pin."))
    return settings
