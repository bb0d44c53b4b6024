"""Models on this computer: list, pretrain, compare, export."""
