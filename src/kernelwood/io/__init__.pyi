from .alignment import guess_unit as guess_unit
from .atomic import check_parent as check_parent, replacing as replacing, write_text as write_text
from .conllu import write_conllu as write_conllu
from .convert import fit_to_format as fit_to_format, keep_views as keep_views, left_out as left_out
from .folders import check_vacant as check_vacant, write_folder as write_folder
from .formats import FORMATS as FORMATS, Format as Format
from .ids import UsedIds as UsedIds
from .jsonl import write_jsonl as write_jsonl
from .kelp import write_kelp as write_kelp
from .limits import LimitError as LimitError, Limits as Limits
from .penman import write_penman as write_penman
from .penn import write_penn as write_penn
from .reading import (
    ErrorPolicy as ErrorPolicy,
    Examples as Examples,
    ExampleStream as ExampleStream,
    Tally as Tally,
    cycles_ignored as cycles_ignored,
    general_reason as general_reason,
    iter_read as iter_read,
    read as read,
)
from .semeval import write_semeval as write_semeval
from .source import Closing as Closing, Line as Line, Readable as Readable, Source as Source
from .srl import write_srl as write_srl
from .standoff import write_standoff as write_standoff
from .standoff_lines import in_one_line as in_one_line
from .standoff_writer import standoff_files as standoff_files
from .writing import format_to_write as format_to_write, write as write
