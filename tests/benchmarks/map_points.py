"""Milliseconds per frame of a map with 100,000 points: pan, zoom, hover, lasso, colours.

    QT_QPA_PLATFORM=offscreen python tests/benchmarks/map_points.py [POINTS]

Target: no frame over 33 ms at 1,000 × 700 pixels, and no lag: 95% under 17 ms on a quiet machine.
"""

import math
import statistics
import time

import numpy as np
from meter import arguments
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from workbench.ui.style import theme
from workbench.ui.widgets.charts.point_map import PointGroup, PointMap
from workbench.ui.widgets.charts.point_stamps import SHAPES

COUNT, GROUPS, ROUNDS = 100_000, 8, 40


def main(count: int) -> None:
    app = QApplication([])
    theme.set_up(dark=False)
    random = np.random.default_rng(0)
    codes = random.integers(0, GROUPS, count)
    centres = random.normal(size=(GROUPS, 2)) * 3
    map = PointMap("map", str)
    map.resize(1000, 700)
    map.set_points((centres[codes] + random.normal(size=(count, 2))).astype(np.float32))
    hues = ("#c0392b", "#2980b9", "#27ae60", "#8e44ad")
    groups = [
        PointGroup(str(at), hues[at % len(hues)], SHAPES[at % len(SHAPES)]) for at in range(GROUPS)
    ]
    map.set_groups(groups, codes)
    map.show()
    app.processEvents()
    lasso = [
        QPointF(
            500 + 250 * math.cos(at / 100 * math.tau), 350 + 200 * math.sin(at / 100 * math.tau)
        )
        for at in range(100)
    ]
    acts = {
        "pan": lambda at: map.pan(7 if at % 2 else -7, 3),
        "zoom": lambda at: map.zoom(1.1 if at % 2 else 1 / 1.1),
        "hover": lambda at: map._hover(QPointF(300 + at, 300)),
        "lasso": lambda at: map._take(map.numbers_in(lasso) if at % 2 else np.arange(0)),
        "colours": lambda at: map.set_groups(groups, codes),
    }
    print(f"{count:,} points, {map.width()} × {map.height()} pixels")
    for name, act in acts.items():
        taken = []
        for at in range(ROUNDS):
            began = time.perf_counter()
            act(at)
            map.repaint()
            taken.append(1000 * (time.perf_counter() - began))
        taken.sort()
        worst = f"95% {taken[int(0.95 * ROUNDS)]:6.1f} ms, worst {taken[-1]:6.1f} ms"
        print(f"{name:8} median {statistics.median(taken):6.1f} ms, {worst}")


if __name__ == "__main__":
    main(*arguments(__doc__, {"points": 2000}, points=COUNT))
