"""Registration of kernels with scikit-learn's Gaussian processes, without importing scikit-learn.

Gaussian processes check ``isinstance(kernel, sklearn.gaussian_process.kernels.Kernel)``. This is an
abstract base class, so that other classes can be registered with it, but importing it takes half a
second. Kernels are registered at once if it is imported already, otherwise by an import hook.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_MODULE = "sklearn.gaussian_process.kernels"


def register_when_imported(kernel: type) -> None:
    """Register ``kernel`` with scikit-learn's kernel class, now or when that is imported."""
    module = sys.modules.get(_MODULE)
    if module is not None and hasattr(module, "Kernel"):
        module.Kernel.register(kernel)
    elif not any(isinstance(finder, _Waiting) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiting(kernel))


class _Waiting(MetaPathFinder):
    """Import hook that wraps the loader of one module."""

    def __init__(self, kernel: type) -> None:
        self.kernel = kernel

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return None
        run: Any = spec.loader.exec_module

        def run_and_register(module: ModuleType) -> None:
            run(module)
            register_when_imported(self.kernel)

        spec.loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
