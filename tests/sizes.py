"""How deep the deepest structures of tests are."""

DEPTH = 10_000  # far beyond any limit of recursion; with --slow, 100,000
