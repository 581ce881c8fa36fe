"""Base classes of estimators, replaced by those of scikit-learn when it is imported.

Importing scikit-learn takes longer than applying a loaded model to a text: it also imports pandas,
``scipy.stats`` and other modules that predictions do not need. The classes here replace its base
classes until any code imports it or uses a feature of its classes. Then they get its classes as
their bases, and their subclasses get the additions of ``__init_subclass__`` (:func:`link`). Code
that checks whether an object is an estimator of scikit-learn has imported it, and gets the same
answer as for plain subclasses.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial, update_wrapper
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from inspect import signature
from threading import RLock
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

_BASE = "sklearn.base"
_LOCK = RLock()  # of the change of bases; nothing is imported while it is held


class _Deferred:
    """What a class has until its bases are those of scikit-learn."""

    def __getattr__(self, name: str) -> Any:
        # Fitted attributes end in an underscore, and private ones of its own begin with one.
        if name.startswith("_") == name.endswith("_") and not name.startswith("__"):
            link()
            if _Deferred not in type(self).__mro__:
                return getattr(self, name)
        kind = type(self).__name__
        raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)

    # Loading a model needs no more than the arguments of the constructor, in scikit-learn's order.

    @classmethod
    def _get_param_names(cls) -> Any:
        return sorted(set(signature(cls.__init__).parameters) - {"self"})

    def get_params(self, deep: bool = True) -> Any:
        if not deep:
            return {name: getattr(self, name) for name in self._get_param_names()}
        link()
        return self.get_params(deep)

    # What is looked up in the class, not in the object.

    def set_params(self, **params: Any) -> Any:
        link()
        return self.set_params(**params)

    def __sklearn_tags__(self) -> Any:
        link()
        return self.__sklearn_tags__()

    def __repr__(self) -> str:
        link()
        return repr(self)

    def __dir__(self) -> Any:
        link()
        return dir(self)


class Estimator(_Deferred):
    """Replacement of ``BaseEstimator`` until scikit-learn is imported."""

    if TYPE_CHECKING:  # each has arguments of its own

        def __init__(self, *arguments: Any, **options: Any) -> None: ...


class _Mixed:
    """The base of mixins until then."""


class Classifier(_Mixed):
    """Replacement of ``ClassifierMixin``; to the left of an estimator among the bases."""


class Clusterer(_Mixed):
    """Replacement of ``ClusterMixin``; to the left of an estimator among the bases."""


class Transformer(_Mixed):
    """Replacement of the mixins of estimators with a ``transform``; to the left of an estimator."""


# The classes of scikit-learn that each stands in for.
_BASES: dict[type[Any], tuple[str, ...]] = {
    Estimator: ("BaseEstimator",),
    Classifier: ("ClassifierMixin",),
    Clusterer: ("ClusterMixin",),
    Transformer: ("ClassNamePrefixFeaturesOutMixin", "TransformerMixin"),
}


def link() -> None:
    """Import scikit-learn, and give the classes above its base classes."""
    _take_bases(importlib.import_module(_BASE))


def _take_bases(base: ModuleType) -> None:
    with _LOCK:
        if Estimator.__bases__ != (_Deferred,):
            return
        for cls, names in _BASES.items():
            cls.__bases__ = tuple(getattr(base, name) for name in names)
        # Bases before the classes that are derived from them.
        for cls in sorted(set(_derived(_BASES)), key=lambda cls: len(cls.__mro__)):
            super(cls, cls).__init_subclass__()


def _derived(classes: Any) -> Iterator[type[Any]]:
    """Yield classes and all that are derived from them."""
    waiting = list(classes)
    while waiting:
        cls = waiting.pop()
        yield cls
        waiting.extend(cls.__subclasses__())


class _Watch(MetaPathFinder):
    """Finds scikit-learn's base classes as other finders do, and notices their import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _BASE:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _LoadedOnce(spec.loader, self)
                return spec
        return None


class _LoadedOnce(Loader):
    """Loads a module, then gives it back to its own loader."""

    def __init__(self, loader: Any, watch: _Watch) -> None:
        self._loader = loader
        self._watch = watch

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _take_bases(module)
        if self._watch in sys.meta_path:
            sys.meta_path.remove(self._watch)


class _AvailableIf:
    """A method that an object has only if a function of the object returns True."""

    def __init__(self, check: Callable[[Any], bool], method: Callable[..., Any]) -> None:
        self._check = check
        self._method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, obj: Any, owner: type[Any]) -> Any:
        if obj is None:
            return self._method
        missing = f"This {owner.__name__!r} has no attribute {self._method.__name__!r}"
        try:
            available = self._check(obj)
        except Exception as error:
            raise AttributeError(missing) from error
        if not available:
            raise AttributeError(missing)
        return MethodType(self._method, obj)


def available_if(check: Callable[[Any], bool]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of methods that exist only on objects for which a check returns True.

    As with the decorator of scikit-learn, other objects do not have the attribute.
    """
    return partial(_AvailableIf, check)


def not_fitted(message: str) -> Exception:
    """Return the exception of scikit-learn for estimators that are not fitted."""
    from sklearn.exceptions import NotFittedError

    made: Exception = NotFittedError(message)
    return made


# Before it is looked for, so that no import between the two is missed.
sys.meta_path.insert(0, _Watch())
if _BASE in sys.modules:
    link()
