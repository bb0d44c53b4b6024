"""Feature extraction: full fine-tuning with the whole encoder frozen."""

from workbench.training.methods.frozen.info import INFO
from workbench.training.methods.full.method import Full


class Frozen(Full):
    info = INFO
    fixes_encoder = True

    @property
    def freeze(self) -> str:
        return "encoder"
