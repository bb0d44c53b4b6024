"""The model card: README.md with a YAML header, created from the run and its verification.

It is English whatever the language of the window: it travels with the model, and those who load it
elsewhere, people and model hubs alike, read English cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from huggingface_hub import EvalResult, ModelCard, ModelCardData

from workbench.base.registry import needed_plugin
from workbench.exporters.model.results import Verification
from workbench.exporters.model.spec import ExporterInfo, infos
from workbench.tasks import spec as tasks
from workbench.text.columns import markdown, numbered

if TYPE_CHECKING:
    from workbench.exporters.model.base import Export

ADAPTERS = "peft"  # the library of adapters


def write(export: Export, folder: Path, info: ExporterInfo, *, library: str) -> None:
    """README.md of an exported folder; `library` loads it, as model hubs name it."""
    text = readme(
        export.facts,
        export.predictor.description,
        export.checks,
        info=info,
        library=library,
        stored=export.stored,
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def readme(
    facts: Mapping[str, Any],
    description: Mapping[str, Any],
    checks: Mapping[str, Verification] | None = None,
    *,
    info: ExporterInfo,
    library: str = "transformers",
    stored: Verification | None = None,
) -> str:
    """`facts` as in ExportSpec, `description` the run's glossbench.json, `checks` by format,
    `stored` as in ExportResult.
    """
    task = tasks.info(description["task"])
    adapter, checks = library == ADAPTERS, checks or {}
    code = info.loading_code(
        "path/of/this/folder", task, own_head=bool(description.get("own_head"))
    )
    parts = [
        f"# {facts.get('run') or 'Fine-tuned model'}\n",
        f"{'A LoRA adapter that predicts' if adapter else 'Predicts'} {task.predicts}"
        f"{_layer(facts)}. Made with Glossbench{_base(facts)}.\n",
        _labels(description),
        _decoding(description),
        _scores(facts),
        _data(facts, description),
        _checks(checks, stored),
        f"## Use\n\n{_plugins(description)}```python\n{code}```\n",
        _settings(facts),
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
    return f" from {facts['base_model']}" if facts.get("base_model") else ""


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


def _checks(checks: Mapping[str, Verification], stored: Verification | None) -> str:
    lines = (
        [
            f"- The original against the predictions stored with its run, on {stored.texts:,} "
            f"texts: {stored.equal} of {stored.labels} labels equal."
        ]
        if stored is not None
        else []
    )
    lines += [
        line for info in infos() if info.id in checks for line in _check(info, checks[info.id])
    ]
    return "## Check of the exported model\n\n" + "\n".join(lines) + "\n" if lines else ""


def _check(info: ExporterInfo, check: Verification) -> list[str]:
    how = "in mixed batches and singly" if info.main_check else "loaded again"
    lines = [
        f"- {info.title} against the original on {check.texts:,} texts, {how}: {_compared(check)}."
    ]
    if speed := check.speed:
        lines.append(
            f"- One text at a time: {speed.torch_ms:.1f} ms with torch, "
            f"{speed.onnx_ms:.1f} ms with onnxruntime (medians, CPU, measured at "
            f"export)."
        )
    return lines


def _compared(check: Verification) -> str:
    if not check.texts:
        return "no texts to check with"
    labels = f"{check.equal} of {check.labels} labels equal" if check.labels else "no labels"
    return f"{labels}, largest difference {check.largest_difference:.1e}"


def _settings(facts: Mapping[str, Any]) -> str:
    rows = [
        [name, f"`{value}`"]
        for name, value in (facts.get("options") or {}).items()
        if value is not None
    ]
    rows += [["seed", f"`{facts['seed']}`"]] if facts.get("seed") is not None else []
    rows += [[name, f"`{value}`"] for name, value in (facts.get("versions") or {}).items()]
    return "## Settings\n\n" + _table(["Setting", "Value"], rows) if rows else ""


def _table(titles: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    return markdown(numbered(titles), rows) + "\n"
