"""Entropies by counting, and the iteration for latent variables as a textbook has it."""

from __future__ import annotations

import numpy as np


def x_log_x(x):
    return x * np.log(np.where(x > 0, x, 1.0))


def entropy_of_bits(codes):
    p = np.asarray(codes, dtype=float).mean(axis=0)
    return float(-(x_log_x(p) + x_log_x(1 - p)).sum())


def exact_entropy(codes):
    _, counts = np.unique(codes, axis=0, return_counts=True)
    return float(-x_log_x(counts / counts.sum()).sum())


def exact_total_correlation(codes):
    return entropy_of_bits(codes) - exact_entropy(codes)


def exact_mutual_information(codes, y):
    y = np.asarray(y)
    return exact_entropy(codes) - sum(
        np.mean(y == c) * exact_entropy(codes[y == c]) for c in np.unique(y)
    )


def relations(codes, q):
    """Return I(c_l : z_j) and I(c : z_j), by the joint distributions."""
    n = len(codes)
    joint = np.stack(
        [[c.T @ z / n for z in (q, 1 - q)] for c in (codes.astype(float), 1.0 - codes)]
    )  # value of the bit, value of z, bit, latent
    marginal = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    each = (x_log_x(joint) - joint * np.log(np.where(marginal > 0, marginal, 1))).sum(axis=(0, 1))
    p = q.mean(axis=0)
    own = -(x_log_x(p) + x_log_x(1 - p)) + (x_log_x(q) + x_log_x(1 - q)).mean(axis=0)
    return each, own


def explained(codes, q):
    """Return TC(c; z), each bit given to the best latent; those that do not pay are left out."""
    each, own = relations(codes, q)
    kept = list(range(len(own)))
    while kept:
        value = each[:, kept].max(axis=1).sum() - own[kept].sum()
        without = [[k for k in kept if k != j] for j in kept]
        values = [
            each[:, rest].max(axis=1).sum() - own[rest].sum() if rest else 0.0 for rest in without
        ]
        if max(values) <= value:
            return float(value)
        kept = without[int(np.argmax(values))]
    return 0.0


def respond(codes, q, least=2.0**-10):
    """Return new responsibilities; values that never go with a bit do so in ``least`` examples."""
    n = len(codes)
    each, _ = relations(codes, q)
    owned = each.argmax(axis=1)[:, None] == np.arange(q.shape[1])
    size = np.stack([q.sum(axis=0), n - q.sum(axis=0)])
    odds = np.log(size[0]) - np.log(size[1])
    total = np.tile(odds, (n, 1))
    for value in (0, 1):
        has = (codes == value).astype(float)
        lowest = least * has.mean(axis=0)[:, None]
        given = [np.log(np.maximum(has.T @ z, lowest)) for z in (q, 1 - q)]
        varied = (has.mean(axis=0) > 0) & (has.mean(axis=0) < 1)
        weight = np.where(varied[:, None] & owned, given[0] - given[1] - odds, 0.0)
        total += has @ np.where(np.isfinite(weight), weight, 0.0)
    return 1 / (1 + np.exp(-np.clip(total, -700, 700)))


def planted(n_groups, bits_each, noise, n, seed):
    """Return codes whose bits are noisy copies of a few hidden ones."""
    random = np.random.default_rng(seed)
    hidden = np.repeat(random.integers(2, size=(n, n_groups)), bits_each, axis=1)
    return (hidden ^ (random.random(hidden.shape) < noise)).astype(np.uint8)
