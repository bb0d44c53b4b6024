"""Shares of variance of settings whose influence is known."""

import math
import random

from workbench.training import importance


def shares(scores):
    draw = random.Random(1)
    ranges = [
        {"name": "rate", "scale": "log", "low": 1e-5, "high": 1e-3},
        {"name": "epochs", "scale": "whole", "low": 1, "high": 9},
        {"name": "batch", "scale": "list", "values": [8, 16, None], "low": None, "high": None},
    ]
    values = [
        {
            "rate": 10 ** draw.uniform(-5, -3),
            "epochs": draw.randint(1, 9),
            "batch": draw.choice([8, 16, None]),
        }
        for _trial in range(20)
    ]
    params = {"ranges": ranges, "values": values, "scores": [scores(item) for item in values]}
    work = importance.run(params, None)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return {row["name"]: row for row in end.value["rows"]}


def test_the_setting_that_the_score_depends_on_explains_its_variance():
    rows = shares(lambda item: math.log10(item["rate"]))

    assert list(rows)[0] == "rate" and rows["rate"]["share"] > 0.8
    assert rows["epochs"]["share"] < 0.15 and rows["batch"]["share"] < 0.15
    assert all(row["low"] <= row["share"] <= row["high"] for row in rows.values())


def test_equal_scores_have_nothing_to_explain():
    rows = shares(lambda _item: 0.5)

    assert {row["share"] for row in rows.values()} == {0.0}
