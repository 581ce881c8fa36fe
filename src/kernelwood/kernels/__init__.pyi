from .combined import (
    CombinedKernel as CombinedKernel,
    Normalized as Normalized,
    OnView as OnView,
    Power as Power,
    Product as Product,
    Scaled as Scaled,
    Sum as Sum,
    drop_unread_views as drop_unread_views,
    needed_views as needed_views,
)
from .forest_kernels import ForestKernel as ForestKernel
from .gram_folder import (
    GRAM_WINDOW as GRAM_WINDOW,
    GramFolder as GramFolder,
    gram_rows as gram_rows,
    open_gram as open_gram,
    write_gram as write_gram,
)
from .graph_kernels import (
    AllPathsGraphKernel as AllPathsGraphKernel,
    WeisfeilerLehmanKernel as WeisfeilerLehmanKernel,
)
from .kernel import TILE as TILE, Kernel as Kernel
from .pair_kernel import PairKernel as PairKernel
from .registry import KERNELS as KERNELS
from .sequence_kernels import SubsequenceKernel as SubsequenceKernel
from .tree_kernels import (
    PartialTreeKernel as PartialTreeKernel,
    RootedTreeKernel as RootedTreeKernel,
    SubsetTreeKernel as SubsetTreeKernel,
    SubtreeKernel as SubtreeKernel,
)
from .vector_kernel import VectorKernel as VectorKernel
