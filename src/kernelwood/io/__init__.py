"""Reading and writing annotation files.

======================  ==========================================================================
the way in              `reading` (what happens to broken parts), `inputs` (one file, a folder or
                        an archive), `source` (bytes, compression, text, lines)
several files           `containers` (what follows has in common), `folders`, `archives` (what
                        follows has in common), `zips`, `tars`; `plan` says what is read
hostile files           `limits` (what they may cost), `unpacking` (compression within limits)
formats                 `formats` (the table), a module for each, and more named like it where it
                        is large: `conllu`, `conllu_sentence`, `conllu_writer`, ...
what formats share      `blocks` (sentences in blocks of lines), `rows` (columns), `comments`,
                        `alignment` (words and offsets in a text), `encodings` (guesses), `ids`
the way out             `writing` (which format), `convert` (from views to what a format holds),
                        `writers` (refusing what it cannot hold), `atomic` (whole files or none)
======================  ==========================================================================

>>> from kernelwood.io import FORMATS
>>> ", ".join(row.name for row in FORMATS)
'penn, conllu, srl, penman, ppi, semeval, standoff, kelp, jsonl'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
