"""Makes ``import parsed_samples`` work: ``--import-mode=importlib`` leaves sys.path alone."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
