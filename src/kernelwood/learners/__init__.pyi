from .base import StructureClassifier as StructureClassifier
from .bit_forest import BitForest as BitForest
from .hash_forest import HashForestClassifier as HashForestClassifier
from .hash_neighbors import HashNeighborsClassifier as HashNeighborsClassifier
from .kernel_neighbors import KernelNeighborsClassifier as KernelNeighborsClassifier
from .kernel_network import KernelNetworkClassifier as KernelNetworkClassifier
from .kernel_svc import KernelSVC as KernelSVC
from .registry import LEARNERS as LEARNERS
from .svc_calibration import fit_sigmoid as fit_sigmoid
from .svc_evidence import Evidence as Evidence, Support as Support
