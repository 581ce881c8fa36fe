"""The commands of ``kernelwood``, one module each."""
