from tests.tiny_runs import texts_file, tiny_run

__all__ = ["texts_file", "tiny_run"]
