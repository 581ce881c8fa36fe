"""Pages of classes and functions: types that link, a short navigation, and less work.

The sidebar shows the overview only: with several hundred entries on each page, the site would be
ten times as large. The pages stay in the table of contents, and so in the order of previous and
next pages.
"""

from __future__ import annotations

import builtins
import importlib
import re
from typing import Any

from docutils import nodes
from numpydoc import docscrape_sphinx
from sphinx import addnodes

_OVERVIEW = "api"
# Methods that scikit-learn adds to every estimator, with links into its own documentation.
_ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")


def leave_out_of_navigation(app: Any, env: Any) -> None:
    """Remove the pages of objects from the tree that the sidebar shows."""
    for node in list(env.tocs[_OVERVIEW].findall(addnodes.toctree)):
        node.parent.remove(node)


def reuse_navigation(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Compute the sidebar once for all pages of objects, which have the same one."""
    if not page.startswith(f"{_OVERVIEW}/") or "toctree" not in context:
        return
    make = context["toctree"]

    def toctree(**options: Any) -> str:
        key = repr(sorted(options.items()))
        if key not in app.kernelwood_sidebars:
            app.kernelwood_sidebars[key] = make(**options)
        return app.kernelwood_sidebars[key]

    app.kernelwood_sidebars = getattr(app, "kernelwood_sidebars", {})
    context["toctree"] = toctree


def name_types_fully(app: Any, doctree: Any) -> None:
    """Let names in annotations refer to the objects of their package, and builtins to nothing."""
    for node in list(doctree.findall(addnodes.pending_xref)):
        target, module = node.get("reftarget", ""), node.get("py:module")
        if node.get("refdomain") != "py" or "." in target:
            continue
        if hasattr(builtins, target):
            node.replace_self([nodes.Text(node.astext())])
        elif module and hasattr(importlib.import_module(module), target):
            node["reftarget"] = f"{module}.{target}"


def skip_routing(app: Any, kind: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods of metadata routing."""
    return True if _ROUTING.fullmatch(name) else None


def keep_compiled_templates() -> None:
    """Let numpydoc compile its template once, and not for every docstring."""
    make = docscrape_sphinx.SandboxedEnvironment
    made: list[Any] = []

    def environment(loader: Any) -> Any:
        if not made:
            made.append(make(loader=loader))
        return made[0]

    docscrape_sphinx.SandboxedEnvironment = environment


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    keep_compiled_templates()
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("doctree-read", name_types_fully)
    app.connect("env-updated", leave_out_of_navigation)
    app.connect("html-page-context", reuse_navigation, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
