"""`prompt`: ask a pretrained model with a template, without any training."""

from __future__ import annotations
