"""Views of the built-in inspectors, named in the index."""

from workbench.base.deprecation import former_modules

former_modules(
    __name__,
    examined="workbench.ui.panels.inspect.base",
    option_field="workbench.ui.panels.inspect.controls",
)
