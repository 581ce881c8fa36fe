from .annotation import (
    ROOT as ROOT,
    Argument as Argument,
    Attribute as Attribute,
    Dependency as Dependency,
    EmptyNode as EmptyNode,
    Entity as Entity,
    Event as Event,
    Metadata as Metadata,
    Multiword as Multiword,
    Predicate as Predicate,
    Relation as Relation,
    RoleSpan as RoleSpan,
    Span as Span,
    Token as Token,
)
from .annotation_rows import check_number as check_number
from .candidate import Candidate as Candidate
from .cutting import Cut as Cut
from .document import Document as Document
from .example import (
    Example as Example,
    Label as Label,
    Origin as Origin,
    Structure as Structure,
    View as View,
)
from .sentence import Sentence as Sentence
from .sentence_json import (
    document_from_object as document_from_object,
    document_object as document_object,
    sentence_from_object as sentence_from_object,
    sentence_object as sentence_object,
)
from .splitter import find_sentences as find_sentences
from .tokenizer import tokenize as tokenize
from .tree_heads import (
    dependencies_of as dependencies_of,
    dependencies_of_tree as dependencies_of_tree,
)
from .tree_relations import NOUNS as NOUNS
