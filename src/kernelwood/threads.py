"""State that threads share: one lock, states of the process, ignored warnings, lazy properties.

Objects that several threads read are not locked: a change builds the new state and publishes it by
one assignment. Where a change reads what it replaces, it holds `LOCK`.
"""

from __future__ import annotations

import os
import re
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

_T = TypeVar("_T")


class ProcessLock:
    """A reentrant lock that a forked process can use.

    A fork waits until no other thread holds the lock, so that what it guards is complete in the new
    process, which gets a lock of its own. Hold it for changes of attributes, never while waiting.

    Examples
    --------
    >>> with LOCK, LOCK:
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self.__enter__, after_in_parent=self.__exit__, after_in_child=self._renew
            )

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = threading.RLock()


LOCK = ProcessLock()  # one for all, so that there is no order in which to take several

_n_forks = 0


def n_forks() -> int:
    """Return the number of forks between the first Python process and this one.

    What belongs to threads of the process before, which do not exist in this one, is marked by it.
    """
    return _n_forks


def _count_fork() -> None:
    global _n_forks
    _n_forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class ProcessState:
    """A state of the whole process that holds while at least one thread needs it.

    The first thread sets it and the last restores what was before; if each of them restored what it
    found, one would end the state of another, or leave it for ever. A forked process has only the
    thread that forked.

    Parameters
    ----------
    change : callable
        Sets the state, and returns a function that restores the one before.

    Examples
    --------
    >>> seen = []
    >>> state = ProcessState(lambda: seen.append("set") or (lambda: seen.append("restored")))
    >>> with state.held(), state.held():
    ...     print(seen)
    ['set']
    >>> seen
    ['set', 'restored']
    """

    def __init__(self, change: Callable[[], Callable[[], object]]) -> None:
        self._change = change
        self._restore: Callable[[], object] | None = None
        self._holders: dict[object, int] = {}  # tokens, with the number of their thread
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_others)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Return a context in which the state is set."""
        token = object()
        with LOCK:
            if not self._holders:
                self._restore = self._change()
            self._holders[token] = threading.get_ident()
        try:
            yield
        finally:
            with LOCK:
                # A generator can be closed in a process that was forked in its thread's absence.
                if self._holders.pop(token, None) is not None:
                    self._restore_if_free()

    def _restore_if_free(self) -> None:
        if not self._holders and self._restore is not None:
            restore, self._restore = self._restore, None
            restore()

    def _leave_others(self) -> None:
        own = threading.get_ident()
        self._holders = {token: one for token, one in self._holders.items() if one == own}
        self._restore_if_free()


@dataclass(frozen=True, slots=True)
class Ignored:
    """The message of a filter of warnings that holds in the context that added it only.

    Attributes
    ----------
    message : str
        Regular expression.
    token : str
        Different for each filter.
    """

    message: str
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def match(self, text: str) -> bool:
        """Return whether a warning is to be ignored; called by the package ``warnings``."""
        return self in _ignored.get() and bool(re.match(self.message, text, re.IGNORECASE))


_ignored: ContextVar[tuple[Ignored, ...]] = ContextVar("kernelwood_ignored", default=())


def warnings_ignored_now() -> tuple[Ignored, ...]:
    """Return what the calling thread ignores, for threads that work for it."""
    return _ignored.get()


@contextmanager
def also_ignored(warnings_ignored: tuple[Ignored, ...]) -> Iterator[None]:
    """Ignore the warnings that another thread ignores."""
    token = _ignored.set((*_ignored.get(), *warnings_ignored))
    try:
        yield
    finally:
        _ignored.reset(token)


@contextmanager
def ignored_warnings(message: str = "", category: type[Warning] = Warning) -> Iterator[None]:
    """Ignore some warnings of the calling thread inside a ``with`` block.

    ``warnings.catch_warnings`` replaces the filters of the whole process, so that two threads that
    use it at the same time can leave the filters of one for ever.

    Parameters
    ----------
    message : str
        Regular expression that the beginning of the message matches, in any case.
    category : type of Warning

    Examples
    --------
    >>> with ignored_warnings("few", UserWarning):
    ...     warnings.warn("few bits", UserWarning)
    """
    mine = Ignored(message)
    row: Any = ("ignore", mine, category, None, 0)
    # In place, one step each: other threads may replace the list, but no change of theirs is lost.
    # A filter that is left in a list matches nothing.
    filters: Any = warnings.filters
    filters.insert(0, row)
    try:
        with also_ignored((mine,)):
            yield
    finally:
        now: Any = warnings.filters
        for rows in (filters, now):
            while row in rows:
                rows.remove(row)


class lazy_property(Generic[_T]):  # noqa: N801 - used as a decorator
    """A property that is computed once and then an attribute, as ``functools.cached_property``.

    That has a lock until Python 3.12, for all objects of a class: a process that is forked while
    another thread computes the property waits for it for ever. Here, threads that ask at the same
    time may compute it twice and get the same object.

    Examples
    --------
    >>> class Word:
    ...     @lazy_property
    ...     def letters(self):
    ...         return ["a"]
    >>> word = Word()
    >>> word.letters is word.letters
    True
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> lazy_property[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> _T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        attributes = instance.__dict__
        if self._name in attributes:
            return attributes[self._name]
        return attributes.setdefault(self._name, self._compute(instance))
