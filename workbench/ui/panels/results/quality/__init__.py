"""Quality of a run: calibration, curves over thresholds, slices and its training."""
