"""`glossbench`: the table of commands, and conversion of errors into messages and exit codes.

0: success, 1: failure (message on standard error), 2: usage error. Command modules are imported
on use, so `--help` only imports click.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import click

from workbench.base import paths, scratch
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.version import __version__

COMMANDS = {  # name → (module of workbench.cli, attribute, one line)
    "open": ("main", "open_window", _("Open the window, optionally with a project.")),
    "sample": (
        "application.projects",
        "sample",
        _("Copy the sample project into a folder and print its path."),
    ),
    "project": ("application.projects", "project", _("Create, describe and check project files.")),
    "import": ("documents.data", "import_data", _("Import data files into a project.")),
    "labels": (
        "documents.data",
        "labels",
        _("List the layers and labels of a project with their counts."),
    ),
    "parts": ("documents.parts", "parts", _("Split documents into sentences or paragraphs.")),
    "relabel": (
        "annotation.relabel",
        "relabel",
        _("Add, rename, group, merge, split and move labels."),
    ),
    "occurrences": (
        "annotation.patterns",
        "occurrences",
        _("Find all occurrences of a text, and label them."),
    ),
    "patterns": (
        "annotation.patterns",
        "patterns",
        _("Edit, count and apply patterns that suggest labels."),
    ),
    "queue": ("annotation.queue", "queue", _("List the next documents to label, by a strategy.")),
    "people": (
        "annotation.people",
        "people",
        _("List, add and rename people; choose whose labels are gold."),
    ),
    "guideline": (
        "annotation.guideline",
        "guideline",
        _("Show, change and export the guideline of a layer; add examples."),
    ),
    "agreement": (
        "annotation.people",
        "agreement",
        _("Measure how far people and runs agree on a layer."),
    ),
    "adjudicate": (
        "annotation.adjudicate",
        "adjudicate",
        _("Decide where people differ; the result is the person “gold”."),
    ),
    "sources": (
        "annotation.sources",
        "sources",
        _("List the sources of labels; accept suggestions, revert a source."),
    ),
    "filters": (
        "documents.filters",
        "filters",
        _("Find documents by a query; save, rename and delete filters."),
    ),
    "statistics": (
        "documents.statistics",
        "statistics",
        _("Describe documents and labels: balance, lengths, pairs, speed, agreement."),
    ),
    "duplicates": (
        "documents.duplicates",
        "duplicates",
        _("Find equal and similar texts and leaks between splits, and fix them."),
    ),
    "overlap": (
        "documents.duplicates",
        "overlap",
        _("Find documents that share long n-grams with text files."),
    ),
    "notes": ("documents.notes", "notes", _("List and write notes on documents; set flags.")),
    "splits": (
        "documents.splits",
        "splits",
        _("Assign submitted documents to train, dev and test."),
    ),
    "models": ("models.models", "models", _("List, add and describe pretrained models.")),
    "train": ("runs.train", "train", _("Fine-tune a pretrained model on the submitted documents.")),
    "curves": (
        "runs.curves",
        "curves",
        _("Compare systems over growing numbers of labels; read off how many are needed."),
    ),
    "ladder": ("runs.ladder", "ladder", _("Compare steps of transfer, from random to fine-tuned.")),
    "search": ("runs.search", "search", _("Search for the best training settings on a layer.")),
    "repeat": (
        "runs.repeat",
        "repeat",
        _("Train with several seeds or on folds: mean, interval and paired difference."),
    ),
    "layers": (
        "runs.layers",
        "layers",
        _("How transferable the layers of an encoder are, and which ones a task reads."),
    ),
    "multitask": (
        "runs.layers",
        "multitask",
        _("Compare layers that are trained together with each alone."),
    ),
    "pretrain": ("models.language_models", "pretrain", _("Train a language model on plain text.")),
    "evaluate": ("runs.evaluate", "evaluate", _("Evaluate a run on the current gold labels.")),
    "pronouns": (
        "runs.evaluate",
        "pronouns",
        _("Score which name each pronoun of GAP means, by gender."),
    ),
    "perplexity": (
        "models.language_models",
        "perplexity",
        _("Evaluate language models on held-out text."),
    ),
    "board": ("runs.board", "board", _("List all runs of a layer on one test set, best first.")),
    "compare": (
        "runs.board",
        "compare",
        _("Compare runs, prompts and baselines on one test set."),
    ),
    "runs": ("runs.runs", "runs", _("List, rename, group, tag, annotate and archive runs.")),
    "errors": ("runs.errors", "errors", _("List the errors of a run one by one.")),
    "audit": (
        "runs.audit",
        "audit",
        _("List labels that a tokenizer would split, lose or truncate."),
    ),
    "label-errors": (
        "runs.errors",
        "label_errors",
        _("Find gold labels that are probably wrong."),
    ),
    "ensemble": ("runs.runs", "ensemble", _("Average the class probabilities of runs.")),
    "predict": ("runs.use", "predict", _("Predict labels with a run or a model folder.")),
    "serve": ("models.serve", "serve", _("Answer requests over HTTP with a run or an export.")),
    "inspect": ("models.inspect", "inspect", _("Inspect a model on texts.")),
    "embed": ("models.embed", "embed", _("Write hidden states of texts as numpy arrays.")),
    "suggest": ("runs.use", "suggest", _("Suggest labels for unlabelled documents with a run.")),
    "servers": (
        "models.servers",
        "servers",
        _("List, add, test and remove servers of language models."),
    ),
    "prompt": ("runs.prompt", "prompt", _("Evaluate a prompt by the probabilities of its labels.")),
    "prompts": ("runs.prompts", "prompts", _("List and compare the prompts of a project.")),
    "generate": ("runs.generate", "generate", _("Let a model continue a text or answer it.")),
    "tokenizer": (
        "models.tokenizer",
        "tokenizer",
        _("Train and compare tokenizers, and show how they split words."),
    ),
    "vectors": ("models.vectors", "vectors", _("Query, evaluate and train word vectors.")),
    "export": ("runs.use", "export", _("Export a run as a Hugging Face folder and as ONNX.")),
    "export-data": ("documents.data", "export_data", _("Export documents and labels to a file.")),
    "plugins": ("application.plugins", "plugins", _("List, enable, disable and check plugins.")),
    "doctor": (
        "application.doctor",
        "doctor",
        _("Check versions, devices, fonts, folders and network use."),
    ),
}


@click.command("open")
@click.argument("file", type=click.Path(path_type=Path), metavar="[FILE]", required=False)
def open_window(file: Path | None) -> None:
    """Open the window, optionally with FILE: a project, or data for a new one.

    With a project, Annotate opens at the first document to label; without FILE, the Welcome page
    opens. Requires a display. `glossbench` without a command does the same.
    """
    raise WorkbenchError(
        _("The window cannot be opened from within a command."),
        hint=_("Run `glossbench open` or `python -m workbench open`."),
    )


def _in_language(command: click.Command) -> click.Command:
    """A command whose help is the docstring of its function, translated."""
    if command.help:
        command.help = _(command.help)
    for item in getattr(command, "commands", {}).values():
        _in_language(item)
    return command


def _not_a_command(name: str) -> str:
    """A message for a file given in place of a command; "" for anything else."""
    if name.lower().endswith(paths.PROJECT_SUFFIX):
        return _("To open {name!r}, pass it as the only argument.", name=name)
    if os.path.isfile(name):  # noqa: PTH113, Path.is_file raises for a name that is too long
        return _(
            "{name!r} is a file without the suffix {suffix}. To open it as a project, run "
            "`glossbench open FILE`; to import it, run `glossbench import PROJECT FILE`.",
            name=name,
            suffix=paths.PROJECT_SUFFIX,
        )
    if os.path.sep in name or "." in name:
        return _("There is no file or command named {name!r}.", name=name)
    return ""


class LazyGroup(click.Group):
    """A group that lists its commands from the table and imports one when it is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute, _line = COMMANDS[name]
        return _in_language(getattr(importlib.import_module(f"workbench.cli.{module}"), attribute))

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if arguments[0] not in COMMANDS and (message := _not_a_command(arguments[0])):
            context.fail(message)
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(_("Commands")):
            formatter.write_dl(
                [(name, line) for name, (_module, _attribute, line) in COMMANDS.items()]
            )


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="glossbench")
def cli() -> None:
    """Glossbench: label text, fine-tune pretrained models, evaluate and export them. Works offline.

    Without a command it opens the window, optionally with the project FILE.glossbench. Every
    command has --help. Exit codes: 0 success, 1 failure, 2 usage error. With --json, a command
    prints only JSON on standard output.
    """


_in_language(cli)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit code. Never raises for errors a user can cause."""
    scratch.sweep()
    try:
        code = cli.main(args=arguments, prog_name="glossbench", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say(_("Interrupted."))
    except click.UsageError as error:
        error.show()
        return 2
    except click.ClickException as error:
        error.show()
        return 1
    except BrokenPipeError:
        return _reader_gone()
    except WorkbenchError as error:
        return _say(_of_plugin(error) or str(error))
    except OSError as error:
        return _say(
            _of_plugin(error)
            or _(
                "{what}: {why}",
                what=error.filename or type(error).__name__,
                why=error.strerror or error,
            )
        )
    except MemoryError:
        return _say(_("Out of memory. Try fewer documents at a time."))
    except SystemExit:
        raise
    except BaseException as error:  # a bug or a panic: written to the log, one line for the user
        return _say(_of_plugin(error) or _unexpected(error))


def _say(message: str) -> int:
    click.echo(_("Error: {message}", message=message), err=True)
    return 1


def _reader_gone() -> int:
    """Suppress errors of the flush at exit after the reader of a pipe (`| head`) has closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _of_plugin(error: BaseException) -> str:
    """The message for an exception of a plugin's code, "" for others."""
    from workbench.base import plugin_failures

    fault = plugin_failures.of(error)
    return "" if fault is None else str(fault)


def _unexpected(error: BaseException) -> str:
    import traceback

    from workbench.base import paths

    log = paths.append_to_log("".join(traceback.format_exception(error)))
    if log is None:
        return _("Unexpected error: {error!r}.", error=error)
    return _("Unexpected error: {error!r}. See the log for details: {log}.", error=error, log=log)


if __name__ == "__main__":
    raise SystemExit(main())
