from .archive import (
    array_chunks as array_chunks,
    array_header as array_header,
    dump_json as dump_json,
    load_json as load_json,
)
from .estimators import (
    estimator_state as estimator_state,
    restore_estimator as restore_estimator,
)
from .files import (
    contents as contents,
    load as load,
    read_model as read_model,
    save as save,
    write_model as write_model,
)
from .manifest import Entry as Entry, Manifest as Manifest
from .models import MODELS as MODELS, Row as Row
from .state import State as State
