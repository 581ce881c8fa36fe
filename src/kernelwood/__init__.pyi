from . import (
    arrays as arrays,
    clustering as clustering,
    compute as compute,
    datasets as datasets,
    entities as entities,
    errors as errors,
    evaluate as evaluate,
    explain as explain,
    features as features,
    information as information,
    io as io,
    kernels as kernels,
    learners as learners,
    parsing as parsing,
    persist as persist,
    relations as relations,
    scale as scale,
    search as search,
    similarity as similarity,
    structures as structures,
    text as text,
    tuning as tuning,
    vectors as vectors,
    views as views,
    web as web,
)
from .arrays import batch as batch
from .clustering import KernelKMeans as KernelKMeans
from .compute import config_context as config_context
from .entities import Dictionary as Dictionary, EntityTagger as EntityTagger
from .errors import KernelwoodError as KernelwoodError
from .explain import shared_fragments as shared_fragments
from .features import (
    EmbeddingIndex as EmbeddingIndex,
    HashIndex as HashIndex,
    KernelHasher as KernelHasher,
    NystromEmbedder as NystromEmbedder,
    ReferenceSelector as ReferenceSelector,
)
from .io import read as read, write as write
from .kernels import (
    AllPathsGraphKernel as AllPathsGraphKernel,
    ForestKernel as ForestKernel,
    Kernel as Kernel,
    Normalized as Normalized,
    OnView as OnView,
    PairKernel as PairKernel,
    PartialTreeKernel as PartialTreeKernel,
    RootedTreeKernel as RootedTreeKernel,
    SubsequenceKernel as SubsequenceKernel,
    SubsetTreeKernel as SubsetTreeKernel,
    SubtreeKernel as SubtreeKernel,
    VectorKernel as VectorKernel,
    WeisfeilerLehmanKernel as WeisfeilerLehmanKernel,
)
from .learners import (
    HashForestClassifier as HashForestClassifier,
    HashNeighborsClassifier as HashNeighborsClassifier,
    KernelNeighborsClassifier as KernelNeighborsClassifier,
    KernelNetworkClassifier as KernelNetworkClassifier,
    KernelRanker as KernelRanker,
    KernelRidgeClassifier as KernelRidgeClassifier,
    KernelSVC as KernelSVC,
    LandmarkRidgeClassifier as LandmarkRidgeClassifier,
)
from .parsing import ForestParser as ForestParser
from .persist import load as load, save as save
from .relations import RelationExtractor as RelationExtractor
from .search import (
    SentenceIndex as SentenceIndex,
    find_duplicates as find_duplicates,
    text_similarity as text_similarity,
)
from .structures import Forest as Forest, Graph as Graph, Sequence as Sequence, Tree as Tree
from .text import Document as Document, Example as Example, Sentence as Sentence
from .tuning import GateLearner as GateLearner
from .vectors import Vectors as Vectors

__version__: str
