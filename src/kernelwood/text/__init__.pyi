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
from .candidate import Candidate as Candidate
from .displacy import (
    DisplacyStyle as DisplacyStyle,
    check_displacy_style as check_displacy_style,
    displacy_arc as displacy_arc,
    displacy_object as displacy_object,
    displacy_words as displacy_words,
)
from .document import Cut as Cut, Document as Document
from .example import (
    SIDES as SIDES,
    Example as Example,
    Label as Label,
    Origin as Origin,
    Structure as Structure,
    View as View,
    annotated_view as annotated_view,
)
from .joining import join_across as join_across, join_parses as join_parses
from .objects import (
    adapt as adapt,
    adaptable as adaptable,
    adapting_hint as adapting_hint,
    is_frame as is_frame,
    is_missing as is_missing,
)
from .parsed_objects import (
    from_conllu as from_conllu,
    from_spacy as from_spacy,
    from_stanza as from_stanza,
    spacy_sentences as spacy_sentences,
    stanza_document as stanza_document,
    to_spacy as to_spacy,
)
from .sentence import Sentence as Sentence
from .sentence_json import (
    document_from_object as document_from_object,
    document_object as document_object,
    sentence_from_object as sentence_from_object,
    sentence_object as sentence_object,
)
from .splitter import find_sentences as find_sentences
from .structure_objects import (
    from_networkx as from_networkx,
    from_nltk as from_nltk,
    from_penman as from_penman,
    is_a as is_a,
    to_networkx as to_networkx,
    to_nltk as to_nltk,
)
from .tokenizer import shape_of as shape_of, tokenize as tokenize
from .tree_dependencies import (
    NOUNS as NOUNS,
    base_label as base_label,
    dependencies_of as dependencies_of,
    dependencies_of_tree as dependencies_of_tree,
)
