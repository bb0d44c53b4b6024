"""Names of the strategies that order the queue, also of those whose plugin is missing."""

from __future__ import annotations

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.registry import needed_plugin, registry

KIND = "strategy"  # in the registry


def title(strategy: str) -> str:
    """The title of a strategy; if it is missing, its id and the plugin that it needs."""
    titles = {contribution.id: contribution.title for contribution in registry().all(KIND)}
    if strategy in titles:
        return _(titles[strategy])
    if plugin := needed_plugin(strategy):
        return _("{order} (needs the plugin {plugin})", order=strategy, plugin=plugin)
    return _("{order} (unknown order)", order=strategy)


def missing(strategy: str) -> str:
    """Why an order cannot be computed again, "" if its strategy is there."""
    try:
        registry().entry(KIND, strategy)
    except WorkbenchError as error:
        return str(error)
    return ""
