from .fragments import (
    Fragment as Fragment,
    first_occurrence as first_occurrence,
    fragments_with_each as fragments_with_each,
    sequence_text as sequence_text,
    shared_fragments as shared_fragments,
)
