"""Environment variables that disable the usage statistics of imported libraries."""

import os

TELEMETRY_OFF = {
    # onnxruntime reads it once, when it is imported. `onnxruntime.disable_telemetry_events()` is
    # too late: version 1.31 has written a device id and contacted its server by then.
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}


def disable_telemetry() -> None:
    """Set `TELEMETRY_OFF` for this process and the ones it starts, whatever the values were before.

    A library that was imported earlier may already have read them.
    """
    os.environ.update(TELEMETRY_OFF)
