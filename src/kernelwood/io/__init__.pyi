from .alignment import guess_unit as guess_unit, in_one_line as in_one_line
from .atomic import (
    check_parent as check_parent,
    check_vacant as check_vacant,
    named_if_full as named_if_full,
    new_folder as new_folder,
    open_output as open_output,
    replacing as replacing,
    write_folder as write_folder,
    write_text as write_text,
)
from .containers.compression import PACKED_SUFFIXES as PACKED_SUFFIXES
from .containers.container import name_problem as name_problem
from .containers.limits import LimitError as LimitError, Limits as Limits
from .convert import fit_to_format as fit_to_format, keep_views as keep_views, left_out as left_out
from .counts import (
    NOT_CANDIDATES as NOT_CANDIDATES,
    Counts as Counts,
    reason_lines as reason_lines,
)
from .formats.bioc_json import write_bioc_json as write_bioc_json
from .formats.bioc_xml import write_bioc as write_bioc
from .formats.claim_sources import CLAIM_SOURCES as CLAIM_SOURCES
from .formats.claims import (
    Claim as Claim,
    Claims as Claims,
    claim_schema as claim_schema,
    iter_claims as iter_claims,
    read_claims as read_claims,
)
from .formats.conllu import write_conllu as write_conllu
from .formats.doccano import write_doccano as write_doccano
from .formats.jsonl import write_jsonl as write_jsonl
from .formats.kelp import write_kelp as write_kelp
from .formats.label_studio import (
    label_studio_config as label_studio_config,
    write_label_studio as write_label_studio,
)
from .formats.penman import write_penman as write_penman
from .formats.penn import write_penn as write_penn
from .formats.prodigy import write_prodigy as write_prodigy
from .formats.pubtator import write_pubtator as write_pubtator
from .formats.sections import Section as Section, sections_of as sections_of
from .formats.semeval import write_semeval as write_semeval
from .formats.srl import VERB_ROLES as VERB_ROLES, write_srl as write_srl
from .formats.standoff import (
    standoff_files as standoff_files,
    write_standoff as write_standoff,
)
from .formats.table import FORMATS as FORMATS, Format as Format
from .ids import UsedIds as UsedIds
from .locks import (
    FileInUseError as FileInUseError,
    FileLock as FileLock,
    try_lock as try_lock,
)
from .parquet_files import (
    Kind as Kind,
    check_parquet as check_parquet,
    join_parquet as join_parquet,
    write_codes as write_codes,
    write_parquet as write_parquet,
    write_vectors as write_vectors,
)
from .reading import (
    Examples as Examples,
    ExampleStream as ExampleStream,
    iter_read as iter_read,
    read as read,
)
from .segments import (
    ChangedError as ChangedError,
    Segment as Segment,
    cut_inputs as cut_inputs,
    inputs_kept_open as inputs_kept_open,
    read_segments as read_segments,
)
from .source import (
    Closing as Closing,
    Line as Line,
    Readable as Readable,
    Source as Source,
    is_project as is_project,
)
from .streams import (
    ErrorPolicy as ErrorPolicy,
    Tally as Tally,
    cycles_ignored as cycles_ignored,
    general_reason as general_reason,
)
from .temporary import (
    create_temporary as create_temporary,
    remove_folder as remove_folder,
    sync_folder as sync_folder,
    temporary_name as temporary_name,
)
from .texts import iter_texts as iter_texts, not_prose as not_prose, read_texts as read_texts
from .writing import (
    format_to_write as format_to_write,
    separated_rows as separated_rows,
    write as write,
)
