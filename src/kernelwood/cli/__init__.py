"""The command ``kernelwood``: what did the user ask, and what do they see?"""

from kernelwood.cli.app import main

__all__ = ["main"]
