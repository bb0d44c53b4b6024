"""The model card: README.md with a YAML header, created from the run and its verification.

It is English whatever the language of the window: it travels with the model, and those who load it
elsewhere, people and model hubs alike, read English cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCard, ModelCardData

from workbench.base.registry import needed_plugin
from workbench.base.sizes import size
from workbench.exporters.model.results import Verification, score_text
from workbench.exporters.model.spec import ExporterInfo, infos
from workbench.metrics.definitions import DEFINITIONS
from workbench.metrics.evaluation import Measured
from workbench.tasks import spec as tasks
from workbench.text.columns import markdown, numbered

ADAPTERS, TRANSFORMERS = "peft", "transformers"  # libraries
PLACE = Path("path/of/this/folder")  # in code, where the reader has put the folder


def readme(
    facts: Mapping[str, Any],
    description: Mapping[str, Any],
    checks: Mapping[str, Verification] | None = None,
    *,
    info: ExporterInfo,
    folder: Path = PLACE,
    stored: Verification | None = None,
    original: Verification | None = None,
) -> str:
    """`facts` as in ExportSpec, `description` the run's glossbench.json, `checks` by format,
    `folder` with the exported files, `stored` and `original` as in ExportResult.
    """
    task, own_head = tasks.info(description["task"]), bool(description.get("own_head"))
    library = "glossbench" if own_head and info.library == TRANSFORMERS else info.library
    adapter, checks = library == ADAPTERS, checks or {}
    code = info.loading_code(str(folder), task, own_head=own_head)
    code = code.replace(repr(str(folder)), repr(str(PLACE))).replace(str(folder), str(PLACE))
    parts = [
        f"# {facts.get('run') or 'Fine-tuned model'}\n",
        f"{'A LoRA adapter that predicts' if adapter else 'Predicts'} {task.predicts}"
        f"{_layer(facts)}. Made with Glossbench{_base(facts)}.\n",
        _labels(description),
        _decoding(description),
        _scores(facts),
        _slices(facts),
        _data(facts, description),
        _checks(checks, stored, original),
        f"## Use\n\n{_plugins(description)}```{info.language}\n{code}```\n",
        _settings(facts),
        _licences(facts, folder),
    ]
    text = "\n".join(part for part in parts if part)
    header = _header(facts, task, library)
    return str(ModelCard(f"---\n{header.to_yaml()}\n---\n\n{text}"))


def _header(facts: Mapping[str, Any], task: tasks.TaskInfo, library: str) -> ModelCardData:
    """What model hubs read of a card, with the scores as its model index."""
    results = _results(facts, task)
    hub = {score.hub for score in task.scores if score.hub}
    metrics = dict.fromkeys(result.metric_type for result in results if result.metric_type in hub)
    return ModelCardData(
        library_name=library,
        pipeline_tag=(task.hub_task or task.pipeline) or None,
        license=str(facts.get("base_licence") or "other"),
        base_model=str(facts["base_model"]) if facts.get("base_model") else None,
        base_model_relation="adapter" if library == ADAPTERS else None,
        tags=["glossbench"],
        metrics=list(metrics) or None,
        model_name=str(facts.get("run") or "model") if results else None,
        eval_results=results or None,
    )


def _results(facts: Mapping[str, Any], task: tasks.TaskInfo) -> list[EvalResult]:
    """One for each score of each split; none if model hubs know no score of the task."""
    hub = {score.name: score.hub for score in task.scores}
    values = [
        (split, name, value)
        for split, scores in (facts.get("scores") or {}).items()
        for name, value in scores.items()
    ]
    if not any(hub.get(name) for _split, name, _value in values):
        return []
    return [
        EvalResult(
            task_type=task.hub_task or task.pipeline,
            dataset_type="private",
            dataset_name=str(facts.get("layer") or "own data"),
            dataset_split=split,
            metric_type=hub.get(name) or name,
            metric_name=name,
            metric_value=round(float(value), 6),
        )
        for split, name, value in values
    ]


def _layer(facts: Mapping[str, Any]) -> str:
    return f" of the layer “{facts['layer']}”" if facts.get("layer") else ""


def _base(facts: Mapping[str, Any]) -> str:
    chain = facts.get("chain") or [facts["base_model"]] if facts.get("base_model") else []
    return f" from {' → '.join(map(str, chain))}" if chain else ""


def _labels(description: Mapping[str, Any]) -> str:
    if not description["labels"]:
        return ""
    return "Labels: " + ", ".join(f"`{item}`" for item in description["labels"]) + ".\n"


def _plugins(description: Mapping[str, Any]) -> str:
    """The plugins without which the model cannot be loaded, "" if it needs none."""
    options = description.get("options") or {}
    parts = {
        "task": description["task"],
        "model family": description.get("family") or "",
        "word segmenter": options.get("segmenter") or "",
    }
    needed: dict[str, list[str]] = {}
    for title, id in parts.items():
        if plugin := needed_plugin(id):
            needed.setdefault(plugin, []).append(f"{title} `{id}`")
    lines = [
        f"Needs the plugin `{plugin}` of Glossbench ({', '.join(added)})."
        for plugin, added in needed.items()
    ]
    return "\n".join(lines) + "\n\n" if lines else ""


def _decoding(description: Mapping[str, Any]) -> str:
    """The temperature and thresholds that predictions are made with, "" without any."""
    decoder, lines = description.get("decoder") or {}, []
    if (temperature := float(decoder.get("temperature", 1.0))) != 1.0:
        lines.append(
            f"Temperature: {temperature:.4g}, fitted on dev. Glossbench, also with the ONNX folder,"
            " applies it; `pipeline()` of transformers gives the probabilities without it."
        )
    if thresholds := decoder.get("thresholds"):
        pairs = zip(description["labels"], thresholds, strict=True)
        named = ", ".join(f"`{label}` {threshold:.3g}" for label, threshold in pairs)
        lines.append(f"A label is predicted from this probability on: {named}.")
    return "\n\n".join(lines) + "\n" if lines else ""


def _unit(names: Sequence[str]) -> str:
    errors = ", ".join(name for name in names if tasks.is_error(name))
    return f"% (not {errors})" if errors else "%"


def _scores(facts: Mapping[str, Any]) -> str:
    scores = facts.get("scores") or {}
    names = list(dict.fromkeys(name for score in scores.values() for name in score))
    if not names:
        return ""
    text, every = tasks.score_text, scores.values()
    rows = [
        [name, *(text(name, score[name]) if name in score else "" for score in every)]
        for name in names
    ]
    return (
        "## Scores\n\n"
        + _table([_unit(names), *scores], rows)
        + (f"\n{facts['definition']}\n" if facts.get("definition") else "")
        + _definitions(names)
    )


def _definitions(names: Sequence[str]) -> str:
    known = {name: DEFINITIONS[name] for name in names if name in DEFINITIONS}
    lines = [f"- {name}: {item.text} {item.zero}" for name, item in known.items()]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def _slices(facts: Mapping[str, Any]) -> str:
    table = facts.get("slices") or {}
    if not table.get("rows"):
        return ""
    name = table["score"]
    rows = [
        [
            f"{row['name']} \\*" if row["is_low"] else row["name"],
            f"{row['n']:,}",
            score_text(Measured(row["value"], row["low"], row["high"]), name) or "",
        ]
        for row in table["rows"]
    ]
    whole = tasks.score_text(name, table["value"])
    return (
        "## Weakest slices\n\n"
        + _table(["Slice", "Documents", name], rows)
        + f"\nOf {table['split']}, where {name} of all {table['n']:,} documents is {whole}; with "
        "95% bootstrap intervals. An asterisk marks those that are lower by more than chance "
        "(permutation test, p < 0.05 after Holm's correction).\n"
    )


def _data(facts: Mapping[str, Any], description: Mapping[str, Any]) -> str:
    counts = facts.get("counts") or {}
    lines = [f"- {split}: {count:,} documents" for split, count in counts.items()]
    lines += [
        f"- left out: {item['count']:,} ({item['reason']})" for item in facts.get("left_out") or ()
    ]
    length = description.get("max_length")
    windows = tasks.info(description["task"]).windows
    if facts.get("cut") is not None and not windows:
        lines.append(
            f"- longer than {length} tokens, so their end was not read: {facts['cut']:,} documents"
        )
    elif windows:
        lines.append(
            f"- longer texts run in overlapping windows of {length} tokens; nothing is cut"
        )
    tokens = description.get("tokens") or {}
    if tokens:
        lines.append(
            f"- {tokens['documents']:,} of {tokens['of']:,} training documents came with "
            f"tokens; {100 * tokens['alike']:.1f}% of these"
            " are also the words that Glossbench cuts a raw text into: the closer to "
            "100, the fewer boundaries differ there"
        )
    return "## Training data\n\n" + "\n".join(lines) + "\n" if lines else ""


def _checks(
    checks: Mapping[str, Verification],
    stored: Verification | None,
    original: Verification | None,
) -> str:
    """A table of the formats of this export, with the original first."""
    if not checks and stored is None:
        return ""
    lines = []
    if stored is not None:
        lines.append(
            f"The original against the predictions stored with its run, on {stored.texts:,} "
            f"texts: {stored.equal} of {stored.labels} labels equal.\n"
        )
    rows = [["The original", *_costs(original), "", "", *_score(original)]]
    rows = rows if original is not None else []
    known = [info for info in infos() if info.id in checks]
    rows += [
        [info.title, *_costs(checks[info.id]), *_equal(checks[info.id]), *_score(checks[info.id])]
        for info in known
    ]
    if known:
        lines.append(_table(_CHECK_TITLES, rows))
        texts = max(checks[info.id].texts for info in known)
        extremes = max(checks[info.id].extremes for info in known)
        scored = max(checks[info.id].scored for info in known)
        on = (
            f" Scores are on {scored:,} documents of dev, with 95% bootstrap intervals; that of "
            "the change is paired over documents."
        )
        lines.append(
            f"Compared with the original on up to {texts:,} texts, {extremes} of them unusual ones "
            "(empty, one character, longer than the model reads, emoji, from right to left). "
            "Milliseconds per text on a CPU: the median of 20 texts one by one, and in batches of "
            f"32, tokenization included.{on if scored else ''}\n"
        )
        lines += [_failed(info, checks[info.id]) for info in known if checks[info.id].failed]
    return "## Check of the exported model\n\n" + "\n".join(lines)


_CHECK_TITLES = (
    "Format",
    "Size",
    "ms, one text",
    "ms, batches",
    "Equal labels",
    "Largest difference",
    "Score",
    "Change",
)


def _costs(check: Verification | None) -> list[str]:
    if check is None:
        return ["", "", ""]
    ms = ("" if value is None else f"{value:.1f}" for value in (check.ms_1, check.ms_32))
    return [size(check.bytes) if check.bytes else "", *ms]


def _equal(check: Verification) -> list[str]:
    labels = f"{check.equal} of {check.labels}" if check.labels else "no labels"
    return [labels if check.texts else "no texts", f"{check.largest_difference:.1e}"]


def _score(check: Verification | None) -> list[str]:
    if check is None:
        return ["", ""]
    name = check.score_name
    return [score_text(check.score, name) or "", score_text(check.change, name, signed=True) or ""]


def _failed(info: ExporterInfo, check: Verification) -> str:
    reason = check.problem or (
        f"{check.equal} of {check.labels} labels equal, largest difference "
        f"{check.largest_difference:.1e}"
    )
    return f"**{info.title} does not give the predictions of the original**: {reason}.\n"


def _settings(facts: Mapping[str, Any]) -> str:
    rows = [
        [name, f"`{value}`"]
        for name, value in (facts.get("options") or {}).items()
        if value is not None
    ]
    rows += [["seed", f"`{facts['seed']}`"]] if facts.get("seed") is not None else []
    if facts.get("micro_batch"):
        rows += [["micro-batches, as memory was short", f"`{facts['micro_batch']}`"]]
    rows += [[name, f"`{value}`"] for name, value in (facts.get("versions") or {}).items()]
    return "## Settings\n\n" + _table(["Setting", "Value"], rows) if rows else ""


def _licences(facts: Mapping[str, Any], folder: Path) -> str:
    base = facts.get("base_model") or "The base model"
    lines = [f"{base}: {facts['base_licence']}."] if facts.get("base_licence") else []
    names = sorted(path.name for path in folder.glob("LICEN*"))
    lines += [f"Programs in this folder: see [{name}]({name})." for name in names]
    return "## Licences\n\n" + "\n\n".join(lines) + "\n" if lines else ""


def _table(titles: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    return markdown(numbered(titles), rows) + "\n"
