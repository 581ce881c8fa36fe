"""Reading and writing annotation files.

=====================  ===========================================================================
reading                `reading` (`read`, `iter_read`), `texts` (texts of any kind), `streams`
                       (error policies, counts), `inputs` (files, folders and archives),
                       `source` (bytes, text, lines), `segments` (parts of files)
`containers/`          folders, zip and tar archives, compression, limits
`formats/`             one module per format with reader and writer; `table` lists them
shared by formats      `lines` (blocks, columns, comments), `selection` (views), `alignment` (words
                       and offsets in a text), `ids`
writing                `writing` (`write`), `convert` (views that a format can hold), `atomic`
                       (files that appear only when complete), `temporary` (their names until then)
=====================  ===========================================================================

>>> from kernelwood.io import FORMATS
>>> [row.name for row in FORMATS][:3]
['penn', 'conllu', 'srl']
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
