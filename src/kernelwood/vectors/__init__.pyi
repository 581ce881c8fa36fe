from .archive import DAMAGED as DAMAGED
from .collect import assemble as assemble, check_finite as check_finite
from .formats import FORMATS as FORMATS, VectorFormat as VectorFormat
from .table import Vectors as Vectors
