"""Pretrain the starters with Glossbench itself, and put them into `resources/models/`.

    python packaging/starters/build.py train CORPUS HELDOUT WORK [NAME …]   pretrain into WORK/NAME
    python packaging/starters/build.py finish WORK [NAME …]   float16, into resources/models/
    python packaging/starters/build.py cards [NAME …]         write the cards again

`train` writes what the command said to WORK/NAME.json; `finish` takes the figures from there, and
those of `tests/benchmarks/starters_vs_random.py` from `scores.json` beside this script.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODELS = ROOT / "resources" / "models"
SCORES = HERE / "scores.json"
CORPUS_WORDS = 7.8e6
STARTERS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "starters.toml").read_text("utf-8"))
# The mark of our folders, a copy of the characters, and the first batch of the training.
UNWANTED = (".glossbench", "character_lm.json", "first_batch.json.gz")
LICENCE = (
    "**Licence.** The weights and the vocabulary derive from text of Wikipedia, by its authors, "
    "under CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0/), and are given under "
    "the same licence."
)


def train(corpus: Path, held_out: Path, work: Path, names: list[str]) -> None:
    paths = {"CORPUS": corpus, "HELDOUT": held_out}
    for name in names:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        words = []
        for word in shlex.split(STARTERS[name]["command"]):
            first, slash, rest = word.partition("/")
            words.append(str(work / name / rest) if first == "OUT" else str(paths.get(word, word)))
        if "vectors" in words[0]:
            (work / name).mkdir(exist_ok=True)
        print("glossbench", *words, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "workbench", *words, "--seed", "1", "--json"],
            cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        (work / f"{name}.json").write_text(done.stdout, encoding="utf-8")


def finish(work: Path, names: list[str]) -> None:
    for name in names:
        target = MODELS / name
        shutil.rmtree(target, ignore_errors=True)
        if STARTERS[name].get("half"):
            target.mkdir()
            _halve(work / name, target)
            shutil.copy(work / name / "pretraining.json", target)
        else:
            shutil.copytree(work / name, target)
        for unwanted in UNWANTED:
            (target / unwanted).unlink(missing_ok=True)
        _plain_paths(target / "training.json", json.loads((work / f"{name}.json").read_text()))
        (target / "pretraining.json").unlink(missing_ok=True)


def _halve(source: Path, target: Path) -> None:
    sys.path.insert(0, str(ROOT))
    from workbench.models.base import LoadOptions
    from workbench.models.loading import family_of, load

    encoder = load(source, LoadOptions(allow_pickle=True)).half()
    family_of(encoder.info).save(encoder, target)


def _plain_paths(path: Path, result: dict[str, Any]) -> None:
    """The figures of the training, without the paths of the machine."""
    kept = {key: value for key, value in result.items() if key not in ("path", "output")}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


# ---------------------------------------------------------------- cards


def cards(names: list[str]) -> None:
    for name in names:
        (MODELS / name / "README.md").write_text(_card(name), encoding="utf-8")


def _card(name: str) -> str:
    about = STARTERS[name]
    result = json.loads((MODELS / name / "training.json").read_text())
    parts = [
        "---\nlicense: cc-by-sa-3.0\nlanguage: en\n---\n# " + name,
        f"{about['title'][0].upper()}{about['title'][1:]}. {about['about']}",
        f"**Where it comes from.** {_origin(result, half=about.get('half', False))}",
        f"**What it is worth.** {_worth(name, result)}",
        f"**Good for.** {about['good']}",
        "**Limits.** English only, small, and pretrained for minutes: a model to learn with and to "
        "start from, not one to rely on.",
        LICENCE,
    ]
    return "\n\n".join(parts) + "\n"


def _origin(result: dict[str, Any], *, half: bool) -> str:
    corpus = "3,219 articles of the English Wikipedia of 2015 (7.8 M words; CC BY-SA 3.0)"
    command = "The command is in `packaging/starters/starters.toml` of the sources."
    if "steps" not in result:
        return (
            f"Trained with `glossbench vectors train` on {corpus}: {result['words']:,} words, "
            f"{result['epochs']} epochs, {result['seconds'] / 60:.0f} minutes. {command}"
        )
    stored = " Weights are stored as float16; readers of the format convert them." if half else ""
    device = result["device"].partition("(")[2].rstrip(")") or "one core"
    return (
        f"Pretrained from random weights with `glossbench pretrain`, objective "
        f"{result['objective']}, on {corpus}: {result['steps']:,} steps in "
        f"{result['options']['minutes']:g} minutes on {device}, over "
        f"{result['words'] / 1e6:.1f} M words ({result['words'] / CORPUS_WORDS:.1f} epochs)."
        f"{stored} {command}"
    )


def _worth(name: str, result: dict[str, Any]) -> str:
    found = []
    if result.get("curve"):
        last = result["curve"][-1]
        found.append(
            f"Perplexity on 66 held-out articles: {last['perplexity']:,.1f} per {_unit(name)}, "
            f"{last['perplexity_per_word']:,.0f} per word."
        )
    scores = json.loads(SCORES.read_text()).get(name, {}) if SCORES.is_file() else {}
    if similarity := scores.get("similarity"):
        message = ", ".join(f"{title} {value:.2f}" for title, value in similarity.items())
        found.append(f"Spearman correlation with judgements of similarity: {message}.")
    found += [
        f"Frozen features, {score['title']}: {score['pretrained']:.1f} (random weights "
        f"{score['random']:.1f}, mean of {len(score['seeds'])} seeds)."
        for score in scores.get("frozen", [])
    ]
    if scores.get("frozen"):
        found.append(
            "Measured with `tests/benchmarks/starters_vs_random.py`: all layers concatenated, a "
            "logistic regression on top."
        )
    return " ".join(found)


def _unit(name: str) -> str:
    """What one prediction of a starter is of."""
    sys.path.insert(0, str(ROOT))
    from workbench.models.spec import read_folder

    info = read_folder(MODELS / name, allow_pickle=True)
    if info.predicts_characters:
        return "character"
    return "token"


def main(command: str, *given: str) -> None:
    count = {"train": 3, "finish": 1, "cards": 0}[command]
    paths, names = [Path(path).absolute() for path in given[:count]], list(given[count:])
    names = names or list(STARTERS)
    {"train": train, "finish": finish, "cards": cards}[command](*paths, names)  # type: ignore[operator]
    if command == "finish":
        cards(names)


if __name__ == "__main__":
    main(*sys.argv[1:])
