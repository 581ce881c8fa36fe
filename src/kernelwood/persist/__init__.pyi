from .estimators import (
    estimator_state as estimator_state,
    restore_estimator as restore_estimator,
)
from .files import contents as contents, load as load, save as save
from .manifest import Entry as Entry, Manifest as Manifest
from .models import MODELS as MODELS, Row as Row
from .state import State as State
