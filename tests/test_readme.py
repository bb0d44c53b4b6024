"""The table "Where do I put …?" of the README and architecture.md name places that exist."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TABLE = re.search(
    r"^## Where do I put .*?\n\n(.*?)\n\n", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
)
ROWS = {cells[1].strip(): line for line in TABLE[1].splitlines()[2:] if (cells := line.split("|"))}
PLACE = re.compile(r"`((?:workbench|tests|resources)/[^` ]+)`")
ARCHITECTURE = (ROOT / "resources/help/architecture.md").read_text("utf-8")
ADDED = ("resources/translations/",)  # folders that come with their first file
# A row → a contribution of its kind, and how the row's placeholders are called there.
EXAMPLES = {
    "<format>": "conll",
    "<kind>": "columns",
    "<task>": "classify",
    "<order>": "10",
    "a training method": "lora",
    "a model family": "transformer",
    "a pretraining objective": "masked_lm",
    "a baseline": "logistic",
    "an inspector": "attention",
    "a kind of run": "ensemble",
    "a prompt backend": "local",
    "a prompt template": "few-shot",
    "an export of labels": "doccano",
    "an export of models": "onnx",
    "a page": "labels",
}


@pytest.mark.parametrize("row", ROWS)
def test_the_places_of_a_row_exist(row):
    places = [place for place in PLACE.findall(ROWS[row]) if not place.startswith(ADDED)]
    names = {"<name>": EXAMPLES[row], **EXAMPLES} if "<name>" in ROWS[row] else EXAMPLES

    for place in places:
        for name in re.findall(r"<\w+>", place):
            place = place.replace(name, names[name])
        assert (ROOT / place).exists(), place
    assert places


@pytest.mark.parametrize("row", ROWS)
def test_what_a_row_registers_is_a_kind_of_the_index(row):
    index = tomllib.loads((ROOT / "workbench/builtins.toml").read_text("utf-8"))

    for kind in re.findall(r"`\[\[(\w+)\]\]`", ROWS[row]):
        assert kind in index


@pytest.mark.parametrize(
    "place", sorted(set(re.findall(r"`([\w/<>]+(?:\.py|\.toml|/))`", ARCHITECTURE)))
)
def test_the_places_of_the_architecture_exist(place):
    place = place.replace("<kind>", "columns").replace("<format>", "conll")

    assert (ROOT / place).exists() or list((ROOT / "workbench").rglob(place)), place


def test_the_architecture_names_every_package():
    packages = {path.parent.name for path in (ROOT / "workbench").glob("*/__init__.py")}

    assert {name for name in packages if f"`{name}`" not in ARCHITECTURE} == set()
