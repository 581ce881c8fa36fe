"""Pages of classes and functions: signatures, inherited methods, links, a short navigation.

The sidebar shows the overview only: with several hundred entries on each page, the site would be
ten times as large. The pages stay in the table of contents, and so in the order of previous and
next pages.
"""

from __future__ import annotations

import builtins
import importlib
import pkgutil
import re
from functools import cache
from inspect import getattr_static
from pathlib import Path
from types import new_class
from typing import Any, Generic, TypeVar

import numpy.typing
from docutils import nodes
from numpydoc import docscrape_sphinx
from sphinx import addnodes
from sphinx.util import inspect

_OVERVIEW = "api"
# Methods of metadata routing that scikit-learn adds to every estimator.
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
    packages = []
    shown = _shown(app)
    if shown is not None:
        packages = [".".join(shown.__module__.split(".")[:2])]  # in which it is written
    for node in list(doctree.findall(addnodes.pending_xref)):
        target = node.get("reftarget", "")
        if node.get("refdomain") != "py" or "." in target:
            continue
        if hasattr(builtins, target):
            node.replace_self([nodes.Text(target)])
            continue
        for module in filter(None, [node.get("py:module"), *packages]):
            if hasattr(importlib.import_module(module), target):
                node["reftarget"] = f"{module}.{target}"
                break


def choose_members(
    app: Any, kind: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out members that are on the page of a base class, or those of other packages."""
    if _ROUTING.fullmatch(name):
        return True
    shown = _shown(app)
    if not isinstance(shown, type) or name in vars(shown):
        return None
    inherited = {one for one, _ in _inherited(shown)}
    return True if name in inherited or not _is_written_here(shown, name) else None


def _shown(app: Any) -> Any:
    """Return the object of the page that is read, None on other pages."""
    prefix = f"{_OVERVIEW}/"
    name = app.env.docname
    return pkgutil.resolve_name(name.removeprefix(prefix)) if name.startswith(prefix) else None


@cache
def _inherited(shown: type) -> list[tuple[str, str]]:
    """Return methods that a page lists only, and the base class with a page that has each."""
    found = []
    for name in dir(shown):
        value = getattr_static(shown, name)
        if name in vars(shown) or not _is_method(name, value):
            continue
        owners = [
            page
            for base, page in ((base, _documented().get(base)) for base in shown.__mro__[1:])
            if page and getattr_static(base, name, None) is value
        ]
        if owners or not _is_written_here(shown, name):
            found.append((name, owners[0] if owners else ""))
    return found


def _is_written_here(shown: type, name: str) -> bool:
    """Return whether a member comes from a class of this package."""
    base = next((base for base in shown.__mro__ if name in vars(base)), object)
    return base.__module__.startswith("kernelwood.")


def show_parameters(
    app: Any, kind: str, name: str, obj: Any, options: Any, signature: str | None, result: Any
) -> tuple[str, None] | None:
    """Show the parameters of ``__init__`` where a base class has a ``__new__`` that takes any."""
    if kind != "class" or not (signature or "").startswith("(*args"):
        return None
    if obj.__init__ is object.__init__:
        return "()", None
    found = inspect.signature(obj.__init__, bound_method=True)
    shown = inspect.stringify_signature(
        found, show_return_annotation=False, unqualified_typehints=True
    )
    return shown, None


def list_inherited(
    app: Any, kind: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """List the methods that a class inherits, below its description."""
    if kind != "class" or issubclass(obj, (BaseException, tuple, str, int, float)):
        return
    texts = [
        f":py:meth:`~{owner}.{one}`" if owner else f"``{one}()``" for one, owner in _inherited(obj)
    ]
    if texts:
        lines += ["", f"Inherited methods: {', '.join(texts)}.", ""]


def _is_method(name: str, value: Any) -> bool:
    hidden = name.startswith("_") or _ROUTING.fullmatch(name)
    if hidden or isinstance(value, type) or not value.__doc__:
        return False
    return callable(value) or isinstance(value, (classmethod, staticmethod))


@cache
def _documented() -> dict[type, str]:
    """Return the name of each class that has a page."""
    text = (Path(__file__).parents[1] / f"{_OVERVIEW}.md").read_text(encoding="utf-8")
    names = [f"kernelwood.{name}" for name in re.findall(r"^   ([A-Za-z][\w.]+)$", text, re.M)]
    found = {name: pkgutil.resolve_name(name) for name in names}
    return {value: name for name, value in found.items() if isinstance(value, type)}


def name_array_types() -> None:
    """Show the types of NumPy by their names, and not by the unions that they stand for."""
    item = TypeVar("item")
    named = {"__module__": "numpy.typing"}
    numpy.typing.NDArray = new_class(
        "NDArray", (Generic[item],), {}, lambda body: body.update(named)
    )
    for name in ("ArrayLike", "DTypeLike"):
        setattr(numpy.typing, name, type(name, (), named))


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
    name_array_types()
    keep_compiled_templates()
    app.connect("autodoc-skip-member", choose_members)
    app.connect("autodoc-process-signature", show_parameters, priority=400)
    app.connect("autodoc-process-docstring", list_inherited, priority=900)
    app.connect("doctree-read", name_types_fully)
    app.connect("env-updated", leave_out_of_navigation)
    app.connect("html-page-context", reuse_navigation, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
