"""Everything known about a run, as rows of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import N_, _
from workbench.base.terms import term
from workbench.operations.prompts import prompt, prompt_versions
from workbench.operations.runs import ensemble, run_results
from workbench.pretraining.spec import objectives
from workbench.prompting.results import PromptResult, cost, price
from workbench.training.results import Adaptation, TrainResult
from workbench.training.spec import all_options
from workbench.ui.style import formats
from workbench.ui.style.run_text import layer_mixes, title_of

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run


_HELD_OUT = {
    "perplexity": N_("Perplexity on held-out text"),
    "perplexity_per_word": N_("Perplexity per word on held-out text"),
}


def describe(run: Run) -> Iterator[tuple[str, str]]:
    """(name, value) of everything known about a run."""
    spec, result = run.spec, run_results.outcome(run)
    yield _("Name"), run.name
    listing = run.listing
    for title, text in (
        (_("Group"), listing.group),
        (_("Tags"), ", ".join(listing.tags)),
        (_("Note"), " ".join(listing.note.split())),
    ):
        if text:
            yield title, text
    yield _("Task"), title_of(run)
    yield _("Layer"), run.layer
    if file := spec.get("file"):  # of imported predictions
        yield _("File"), str(file)
    else:
        yield _("Model"), str(spec.get("model_name") or spec.get("model") or "–")
    if len(chain := spec.get("chain") or ()) > 1:
        yield _("Trained from"), " → ".join(map(str, chain))
    if averaged := ensemble.names_of(run):
        yield _("Averaged runs"), ", ".join(averaged)
    yield _("Status"), term(run.status)
    yield _("Started"), formats.moment(run.at)
    for title, value in _numbers(result):
        if value is not None:
            yield title, formats.significant(value, 4) if isinstance(value, float) else str(value)
    yield from _pretrained(run)
    if "seed" in spec:
        yield _("Seed"), str(spec["seed"])
    trained = result if isinstance(result, TrainResult) else None
    if isinstance(result, PromptResult):
        yield from _describe_prompt(run, result)
    if used := (trained and trained.used) or spec.get("plan", {}).get("used", {}):
        yield (
            _("Documents used"),
            ", ".join(f"{term(split)} {count}" for split, count in used.items()),
        )
    for item in spec.get("plan", {}).get("left_out", ()):
        yield _("Left out"), f"{item['count']} × {item['reason']}"
    titles = {option.name: _(option.title) for option in all_options()}
    for name, value in {**spec.get("options", {}), **(trained.options if trained else {})}.items():
        title = titles.get(name) or name.replace("_", " ").capitalize()
        yield title, term("auto" if value is None else str(value))
    for name, value in run.versions.items():
        yield _("Version of {name}", name=name), str(value)
    yield _("Test score views"), str(run.seen_test)


def _pretrained(run: Run) -> Iterator[tuple[str, str]]:
    """(name, value) of what a pretraining has in addition: its objective, model and scores."""
    spec = run.spec
    if "objective" not in spec:
        return
    known = {info.id: _(info.title) for info in objectives()}
    yield _("Objective"), known.get(spec["objective"], spec["objective"])
    yield _("Pretrained model"), str(spec["out"])
    if texts := spec.get("texts"):
        yield _("Texts"), ", ".join(map(str, texts))
    for name, value in run.scores.get("held-out", {}).items():
        title = _(_HELD_OUT[name]) if name in _HELD_OUT else name.replace("_", " ").capitalize()
        yield title, formats.significant(value, 4)


def fingerprints(run: Run) -> dict[str, str]:
    """Name of a row of `describe` → the fingerprints of what it names, for its tooltip."""
    result = run_results.outcome(run)
    weights = result.weights_sha256 if isinstance(result, TrainResult) else ""
    rows = (
        (_("Model"), _("Fingerprint of the base model: {hash}"), run.base_fingerprint),
        (_("Model"), _("Trained weights (SHA-256): {hash}"), weights),
        (_("Layer"), _("Fingerprint of the data: {hash}"), run.data_fingerprint),
        (_("Test score views"), _("Fingerprint of the test set: {hash}"), run.test_fingerprint),
    )
    tips: dict[str, str] = {}
    for row, message, value in rows:
        if value:
            tips[row] = "\n".join(filter(None, (tips.get(row), message.format(hash=value))))
    return tips


def _numbers(result: TrainResult | PromptResult) -> Iterator[tuple[str, object]]:
    """(name, value) of what was measured; None for what was not."""
    yield _("Duration, s"), result.seconds
    yield _("CPU time, s"), result.cpu_seconds
    yield _("Device"), result.device
    if isinstance(result, TrainResult):
        yield _("Steps"), result.steps
        yield _("Best step"), result.best_step
        yield _("Loss of the last epoch"), result.loss
        yield _("Micro-batches, as memory was short"), result.micro_batch
        yield _("Gradient checkpointing"), _("used") if result.checkpointing else None
        if result.adaptation is not None:
            yield from _adaptation(result.adaptation)
        for mix in layer_mixes(result.layer_weights):
            yield _("Layer weights"), mix.text()
            yield _("Factor γ of the layer mix"), mix.gamma
    yield _("Texts truncated to the maximum length"), result.cut


def _adaptation(adaptation: Adaptation) -> Iterator[tuple[str, object]]:
    """What the language model learned before the task, and from how much text."""
    known = {info.id: _(info.title) for info in objectives()}
    yield _("Adapted with"), known.get(adaptation.objective, adaptation.objective)
    documents = _(
        "{n:,}, and {held_out:,} to measure perplexity",
        n=adaptation.documents,
        held_out=adaptation.held_out,
    )
    yield (
        _("Documents of the adaptation"),
        documents,
    )
    yield _("Steps of the adaptation"), adaptation.steps
    yield _("Duration of the adaptation, s"), adaptation.seconds
    for name, title in (
        ("perplexity", _("Perplexity on dev")),
        ("perplexity_per_word", _("Perplexity per word on dev")),
    ):
        if name in adaptation.before and name in adaptation.after:
            before, after = (
                formats.significant(side[name], 4) for side in (adaptation.before, adaptation.after)
            )
            yield (
                title,
                _("{before} before the adaptation, {after} after", before=before, after=after),
            )


def _describe_prompt(run: Run, result: PromptResult) -> Iterator[tuple[str, str]]:
    """(name, value) of what a prompt run has in addition to the settings of every run."""
    if (spec := prompt_versions.spec_of_run(run)) is not None:
        if spec.prompt_name:
            about = _("{name}, version {number}", name=spec.prompt_name, number=spec.prompt_version)
            yield _("Prompt"), about
        for row in prompt_versions.settings(spec, own=True):
            yield row.title, row.value
    if spread := prompt.order_spread(run):
        yield _("Orders of examples"), spread
    for label, share in (result.prior or {}).items():
        yield _("Prior of {label}", label=label), f"{formats.points(share)}%"
    yield from _costs(run_results.prices(run), result)


def _costs(prices: Sequence[float], result: PromptResult) -> Iterator[tuple[str, str]]:
    """(name, value) of what the answers of a prompt run cost."""
    if result.n:
        yield _("Answered documents"), formats.count(result.n)
    counts = (
        (_("Answers known before, not sent"), result.known),
        (_("Documents without a readable answer"), sum(result.no_answer.values())),
        (_("Failed requests"), result.failed),
        (_("Tokens of prompts"), result.prompt_tokens),
        (_("Tokens of replies"), result.reply_tokens),
    )
    for title, n in counts:
        if n:
            yield title, formats.count(n)
    paid = price(result.sent_prompt_tokens, result.sent_reply_tokens, prices)
    each = cost([result], prices)
    values = (
        (_("Price of what was sent"), paid),
        (_("Price per 1,000 documents"), each.price),
        (_("Waiting per 1,000 documents, s"), each.seconds),
    )
    for title, value in values:
        if value is not None:
            yield title, formats.significant(value, 4)


def files_below(folder: Path) -> tuple[tuple[str, int], ...]:
    """(path in the folder, bytes) of each file in it and its subfolders."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return tuple((file.relative_to(folder).as_posix(), file.stat().st_size) for file in files)


def comparable(run: Run, runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs among `runs` for the same task and layer, without `run` itself."""
    return tuple(
        other
        for other in runs
        if other.id != run.id
        and other.spec.get("task")
        and other.layer_id == run.layer_id
        and other.spec.get("task") == run.spec.get("task")
    )
