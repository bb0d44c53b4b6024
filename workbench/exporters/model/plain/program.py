"""Predicts lines from standard input with the model in a folder: the program of a plain export.

A copy of this module lies in the folder, see `exporters.model.bundle`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import json_line
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks.spec import TaskInfo
from workbench.text.document import QUESTIONS, TEXT, Document, from_json
from workbench.text.fields import Prediction
from workbench.text.result_view import answer_json

BATCH = 32  # lines that are predicted together


def main(folder: str, arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0, 1 if a line was wrong or nothing can be read, 2 for wrong
    options.
    """
    options = _options(arguments)
    try:
        predictor = OnnxPredictor.load(folder, threads=options.threads)
        return _write(predictor, sys.stdin.buffer, sys.stdout.buffer, batch=options.batch)
    except WorkbenchError as error:
        _say(str(error))
        return 1
    except BrokenPipeError:  # what reads the answers has enough of them
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "predict.py",
        description=_(
            "Reads one text per line from standard input and writes one JSON object per line. A "
            "line can also be a JSON object: text, text_b for pairs, questions or choices (a "
            "list) with a question, spans (a list of start, end, label) for relations. A wrong "
            "line is answered by an object with error and line."
        ),
    )
    parser.add_argument(
        "--batch",
        type=_positive,
        default=1 if sys.stdin.isatty() else BATCH,
        help=_("number of lines that are read and predicted together (default: {n})", n=BATCH),
    )
    parser.add_argument(
        "--threads",
        type=_positive,
        default=0,
        help=_("number of threads (default: OMP_NUM_THREADS, or all processors)"),
    )
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(_("{text!r} is no positive number", text=text))
    return int(text)


def _write(predictor: OnnxPredictor, source: BinaryIO, out: BinaryIO, *, batch: int) -> int:
    wrong = False
    for answer in answers(predictor, source, batch=batch):
        if "error" in answer:
            wrong = True
            _say(_("Line {line}: {error}", **answer))
        out.write(json_line(answer))
        out.flush()
    return int(wrong)


def _say(text: str) -> None:
    sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stderr.flush()


def answers(
    predictor: OnnxPredictor, lines: Iterable[bytes], *, batch: int = BATCH
) -> Iterator[dict[str, Any]]:
    """The object of each line, in order: that of `predict --json`, or {"error", "line"}.

    Holds `batch` lines at a time.
    """
    numbered = enumerate(lines, 1)
    while chunk := list(islice(numbered, batch)):
        read = [_read(line, number, predictor.task) for number, line in chunk]
        good = [item for item in read if isinstance(item, Document)]
        predicted = iter(_predicted(predictor, good))
        for (number, _line), item in zip(chunk, read, strict=True):
            answer = next(predicted) if isinstance(item, Document) else item
            if isinstance(item, Document) and isinstance(answer, Prediction):
                yield answer_json(item, answer, named=bool(item.key))
            else:
                yield {"error": str(answer), "line": number}


def _read(line: bytes, number: int, info: TaskInfo) -> Document | ValueError:
    """The document of a line. A text may begin with a brace: it is an object if it can be one."""
    form = QUESTIONS if info.asks else info.texts
    is_text = form == 1 and not info.connects
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        return ValueError(_("it is not valid UTF-8"))
    try:
        raw = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError) as error:
        if not is_text:
            return ValueError(_("it is not valid JSON: {error}", error=error))
        raw = None
    if is_text and not (isinstance(raw, dict) and TEXT in raw):
        raw = {TEXT: text}
    try:
        if raw is None:
            raise ValueError(_("it is no JSON object, which this task needs"))
        return from_json(raw, form=form, connects=info.connects)
    except ValueError as error:
        return error


def _predicted(
    predictor: OnnxPredictor, documents: Sequence[Document]
) -> list[Prediction | Exception]:
    """A prediction for each document, or why there is none."""
    try:
        return list(predictor.predict(documents)) if documents else []
    except (WorkbenchError, ValueError, ArithmeticError, LookupError) as error:
        if len(documents) == 1:
            return [error]
        return [answer for item in documents for answer in _predicted(predictor, [item])]
