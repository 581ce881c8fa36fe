"""Beginnings of files that are neither prose nor in a format that is read."""

from __future__ import annotations

__all__ = ["FOREIGN"]

# Name in the message -> content.
FOREIGN = {
    "HTML": "<!DOCTYPE html>\n<html><body><p>Raf binds Ras.</p></body></html>\n",
    "HTML fragment": "<p>Raf binds <b>Ras</b>.</p>\n",
    "XML": '<?xml version="1.0"?>\n<letters><letter>Raf binds Ras.</letter></letters>\n',
    "XML without declaration": '<letter to="you">Raf binds Ras.</letter>\n',
    "RTF": "{\\rtf1\\ansi Raf binds Ras.}\n",
    "PDF": "%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n",
    "PostScript": "%!PS-Adobe-3.0\n(Raf binds Ras.) show\n",
    "JSON": '{"a": {"b": "Raf binds Ras."}}\n',
    "JSON array": '["Raf binds Ras.", "Mek."]\n',
    "JSON lines": '{"gene": "Raf", "score": 1}\n{"gene": "Ras", "score": 2}\n',
    "RIS": "TY  - JOUR\nTI  - Raf binds Ras.\nER  - \n",
    "BibTeX": "@article{raf,\n  title = {Raf binds Ras.},\n}\n",
    "LaTeX": "% a letter\n\\documentclass{article}\n\\begin{document}\nRaf binds Ras.\n",
    "YAML": "---\ntitle: Raf binds Ras.\n---\nMek.\n",
    "CoNLL columns": "Raf NN B-NP B-protein\nbinds VB B-VP O\nRas NN B-NP B-protein\n\n",
    "a table": "gene,score,rank\nRaf,0.3,1\nRas,0.2,2\n",
    "a table with tabs": "gene\tscore\trank\nRaf\t0.3\t1\nRas\t0.2\t2\n",
    "annotation": "T1\tProtein 0 3\tRaf\nT2\tProtein 10 13\tRas\n",
    "not UTF-8": "Raf binds Ras.".encode("utf-16").decode("latin-1"),
    "binary": "\x7fELF" + "\x00\x01\x02\x03" * 50,
}
