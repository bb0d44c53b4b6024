"""Accuracy of prompts on the sample without calibration, with content-free calibration and PMI.

    .venv/bin/python tests/benchmarks/prompt_calibration.py
        [--template ID] [--model NAME …] [--split dev] [--documents N]

For each starter, with 0 and 6 examples and three samples of examples (seeds 1, 2, 3; a single run
without examples). Next to each accuracy it prints the fraction of the most frequent prediction:
with six balanced classes, a model that always predicts the same class has 17% accuracy and a
fraction of 100%. The prompts are scored once and evaluated with all three calibrations.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from meter import parsed, print_machine

from workbench.base.paths import resource
from workbench.operations.application import sample
from workbench.operations.evaluation import scoring
from workbench.operations.prompts import prompt, prompt_fill
from workbench.project.project import Project
from workbench.prompting import transcript
from workbench.prompting.score import CALIBRATIONS, CONTENT_FREE_TEXTS, PMI, batch_prior, prediction
from workbench.prompting.spec import PromptSpec
from workbench.tasks import spec as tasks

STARTERS = ("starter-bert", "starter-gpt")
RUNS = ((0, 1), (6, 1), (6, 2), (6, 3))  # examples, seed


@dataclass(frozen=True)
class Outcome:
    """Fractions of the documents."""

    accuracy: float
    commonest: float


def main() -> None:
    chosen = _arguments()
    print_machine()
    source = {template.id: template.source for template in prompt.templates()}[chosen.template]
    print(
        f"template {chosen.template}, {chosen.split}; "
        "accuracy (fraction of the most frequent prediction), %"
    )
    print(f"{'model':<14} {'examples':>8} {'seed':>5}" + "".join(f"{m:>16}" for m in CALIBRATIONS))
    found: dict[tuple[str, int], list[dict[str, Outcome]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        project = Project.open(sample.create_sample(folder))
        for model in chosen.model:
            for shots, seed in RUNS[:2] if chosen.quick else RUNS:
                spec = PromptSpec(
                    source, str(resource("models") / model), model, "class", shots, seed=seed
                )
                outcomes = judge(*scored(project, spec, chosen.split, chosen.documents))
                found.setdefault((model, shots), []).append(outcomes)
                print(f"{model:<14} {shots:>8} {seed:>5}" + _cells(outcomes), flush=True)
        project.close()
    for (model, shots), several in found.items():
        print(f"{model:<14} {shots:>8} {'mean':>5}" + _cells(_mean(several)))
    print(
        f"{'all':<14} {'':>8} {'mean':>5}"
        + _cells(_mean([entry for some in found.values() for entry in some]))
    )


def scored(
    project: Project, spec: PromptSpec, split: str, most: int
) -> tuple[list[str], list[dict]]:
    """(gold labels, lines of answers.jsonl) of the first `most` documents.

    Runs the job of a prompt run in this process.
    """
    from workbench.prompting.backends import serve

    with prompt_fill.Fillers(project) as fillers:
        filler = fillers.filler(spec)
        info = tasks.info(filler.task)
        result = scoring.scored_documents(project, info, filler.layer, split)[:most]
        lines, _dropped, _cut = prompt.filled(filler, [item.document for item in result])
    with tempfile.TemporaryDirectory() as folder:
        path = transcript.write_prompts(Path(folder), map(json.dumps, lines))
        params = {"model": spec.model, "prompts": str(path), "device": "auto"}
        for _event in serve.answer_prompts(params, Path(folder)):
            pass
        rows = list(transcript.answers(Path(folder)).values())
    return [item.gold.label for item in result], rows


def judge(gold: list[str], rows: list[dict]) -> dict[str, Outcome]:
    """Calibration → outcome. The last content-free text is empty, which is what PMI takes."""
    assert CONTENT_FREE_TEXTS[-1] == ""
    without_text: dict[int, list] = {}
    for row in rows:
        if row["document_id"] is None:
            without_text.setdefault(row["set"], []).append(row["logprobs"])
    asked = [row for row in rows if row["document_id"] is not None]
    prior = next(iter(batch_prior([row["logprobs"] for row in asked]).values()), None)
    outcomes = {}
    for method in CALIBRATIONS:
        answers = []
        for row in asked:
            known = without_text[row["set"]]
            answers.append(
                prediction(
                    row["logprobs"], method, known[-1:] if method == PMI else known, batch=prior
                ).label
            )
        right = sum(a == b for a, b in zip(answers, gold, strict=True))
        commonest = Counter(answers).most_common(1)[0][1]
        outcomes[method] = Outcome(right / len(gold), commonest / len(gold))
    return outcomes


def _mean(several: list[dict[str, Outcome]]) -> dict[str, Outcome]:
    count = len(several)
    return {
        method: Outcome(
            sum(scores[method].accuracy for scores in several) / count,
            sum(scores[method].commonest for scores in several) / count,
        )
        for method in CALIBRATIONS
    }


def _cells(outcomes: dict[str, Outcome]) -> str:
    cells = (
        f"{100 * outcome.accuracy:.1f} ({100 * outcome.commonest:.0f})"
        for outcome in outcomes.values()
    )
    return "".join(f"{cell:>16}" for cell in cells)


def _arguments() -> argparse.Namespace:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--template", default="10-few-shot")
    reader.add_argument("--model", nargs="+", default=list(STARTERS))
    reader.add_argument("--split", default="dev", choices=("train", "dev", "test"))
    reader.add_argument("--documents", type=int, default=10**9)
    return parsed(reader, model=[STARTERS[0]], documents=3)


if __name__ == "__main__":
    main()
