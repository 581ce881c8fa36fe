from .fragments import (
    Fragment as Fragment,
    first_occurrence as first_occurrence,
    sequence_text as sequence_text,
    shared_fragments as shared_fragments,
)
