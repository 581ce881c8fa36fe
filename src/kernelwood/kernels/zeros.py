from __future__ import annotations

import warnings


def warn_of_zeros(count: int, kernel: object) -> None:
    """Warn that some structures have no self-similarity, so that their similarities are 0."""
    if count:
        warnings.warn(
            f"{type(kernel).__name__}: {count} structure(s) have self-similarity 0 (empty, or "
            "nothing the kernel counts); their normalised similarities are set to 0",
            RuntimeWarning,
            stacklevel=2,
        )
