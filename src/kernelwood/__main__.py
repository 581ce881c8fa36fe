"""Entry point of ``python -m kernelwood``, the same as the command ``kernelwood``."""

from kernelwood.cli import main

if __name__ == "__main__":
    main(prog_name="kernelwood")
