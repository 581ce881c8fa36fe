from .agreement import (
    Agreement as Agreement,
    Disagreement as Disagreement,
    Merged as Merged,
    compare as compare,
    merge as merge,
)
from .building import build_project as build_project, read_types as read_types
from .exports import (
    EXPORTS as EXPORTS,
    annotated_documents as annotated_documents,
    export as export,
    train_extractor as train_extractor,
)
from .orders import ORDERS as ORDERS, Pick as Pick, make_queue as make_queue
from .project import (
    ConflictError as ConflictError,
    Decision as Decision,
    Project as Project,
    ProjectError as ProjectError,
    TypeRow as TypeRow,
)
from .review import create_review as create_review
from .security import (
    is_loopback as is_loopback,
    new_token as new_token,
    own_names as own_names,
    read_token as read_token,
    split_host as split_host,
)
from .server import Server as Server, run as run
from .service import create_service as create_service
from .service_input import Limits as Limits
from .session import Session as Session
from .teaching import Prior as Prior, Teacher as Teacher, TeachingModel as TeachingModel
