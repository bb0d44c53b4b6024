"""Copies `resources/` to `workbench/_resources` in the wheel; a checkout reads it in place.

Everything else is configured in pyproject.toml.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithResources(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "workbench" / "_resources"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(
                "resources", target, ignore=shutil.ignore_patterns("screenshots", "__pycache__")
            )


setup(cmdclass={"build_py": WithResources})
