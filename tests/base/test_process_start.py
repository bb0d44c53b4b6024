"""Importing any part of the package turns the telemetry of its libraries off."""

import os
import subprocess
import sys

import pytest

from workbench.base.process_start import TELEMETRY_OFF
from workbench.exporters.model.spec import loading_code

PRINTED = f"import os; print([os.environ.get(name) for name in {list(TELEMETRY_OFF)}])"


@pytest.mark.process
@pytest.mark.parametrize("module", ["workbench", "workbench.runtime.onnx_predictor"])
def test_telemetry_is_off_after_an_import_even_if_the_user_turned_it_on(module):
    on = {name: "01"[value == "0"] for name, value in TELEMETRY_OFF.items()}
    env = {**os.environ, **on}

    done = subprocess.run(
        [sys.executable, "-c", f"import {module}; {PRINTED}"],
        capture_output=True,
        text=True,
        env=env,
    )

    assert done.stdout.strip() == str(list(TELEMETRY_OFF.values())), done.stderr


@pytest.mark.parametrize("task", ["classify", "pairs", "tag"])
@pytest.mark.parametrize(
    ("format", "variable", "library"),
    [
        ("hf", "HF_HUB_DISABLE_TELEMETRY", "transformers"),
        ("onnx", "ORT_DISABLE_TELEMETRY", "onnxruntime"),
        ("adapter", "HF_HUB_DISABLE_TELEMETRY", "peft"),
    ],
)
def test_copied_code_turns_telemetry_off_before_the_import(task, format, variable, library):
    code = loading_code(format, "folder", task)

    compile(code, "copied", "exec")
    assert 0 < code.index(variable) < code.index(library)
