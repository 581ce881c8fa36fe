from .base import TILE as TILE, Kernel as Kernel
from .combined import (
    CombinedKernel as CombinedKernel,
    Normalized as Normalized,
    OnView as OnView,
    Power as Power,
    Product as Product,
    Scaled as Scaled,
    Sum as Sum,
)
from .forest import ForestKernel as ForestKernel
from .registry import KERNELS as KERNELS
from .rooted import RootedTreeKernel as RootedTreeKernel
from .sequence import SubsequenceKernel as SubsequenceKernel
from .tree import (
    PartialTreeKernel as PartialTreeKernel,
    SubsetTreeKernel as SubsetTreeKernel,
    SubtreeKernel as SubtreeKernel,
)
from .views import keep_views as keep_views, needed_views as needed_views
