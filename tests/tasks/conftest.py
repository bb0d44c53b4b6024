from tests.tiny_runs import tiny_run

__all__ = ["tiny_run"]
