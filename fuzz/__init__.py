"""Fuzzing: crafted inputs of every kind, read and then used, in processes with limits.

See ``docs/security.md``; ``python -m fuzz --help`` lists the options.
"""

import os

# One thread in each process, also after forks. Before NumPy is imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
