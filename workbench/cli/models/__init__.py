"""Models: list, pretrain, inspect, embed, export."""
