"""A small treebank to learn from, written for these tests."""

from kernelwood.structures import Tree

_BRACKETS = """
(S (NP (DT the) (NN gardener)) (VP (VBD watered) (NP (DT the) (NNS roses))) (. .))
(S (NP (DT the) (JJ old) (NN dog)) (VP (VBD slept)) (. .))
(S (NP (PRP she)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN kite)))) (. .))
(S (NP (PRP he)) (VP (VBD met) (NP (NP (DT a) (NN girl)) (PP (IN with) (NP (NN hair))))) (. .))
(S (NP (NNP Ada)) (VP (VBZ thinks) (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ rains))))) (. .))
(S (NP (NNS birds)) (VP (VBP sing) (PP (IN in) (NP (DT the) (NN morning)))) (. .))
(S (NP (NP (NNP Ada) (POS 's)) (NN boat)) (VP (VBD sank)) (. .))
(S (NP (PRP they)) (VP (VBP are) (ADJP (RB very) (JJ happy))) (. .))
(S (NP (PRP they)) (VP (VBP have) (VP (VBN seen) (NP (DT the) (NN sea)))) (. .))
(S (NP (DT the) (NN boat)) (VP (VBZ has) (VP (VBN left) (NP (DT the) (NN harbor)))) (. .))
(S (NP (PRP we)) (VP (MD will) (VP (VB go) (PP (TO to) (NP (DT the) (NN market))))) (. .))
(S (NP (PRP she)) (VP (VBZ wants) (S (VP (TO to) (VP (VB sing))))) (. .))
(S (S (VP (VBG sailing))) (VP (VBZ is) (ADJP (JJ hard))) (. .))
(S (NP (NN bread) (CC and) (NN butter)) (VP (VBD fell) (PP (IN on) (NP (DT the) (NN floor)))) (. .))
(S (NP (DT the) (JJ small) (JJ red) (JJ old) (NN boat)) (VP (VBD sank) (ADVP (RB slowly))) (. .))
(S (ADVP (RB suddenly)) (, ,) (NP (DT the) (NN dog)) (VP (VBD barked)) (. .))
(S (NP (CD three) (NNS sailors)) (VP (VBD drank) (NP (CD 12) (NNS bottles))) (. .))
(SQ (MD will) (NP (PRP she)) (VP (VB sing)) (. ?))
(NP (DT a) (JJ quiet) (NN harbor) (. .))
(S (NP (PRP he)) (VP (VBD ran) (ADVP (RB quickly)) (PP (IN to) (NP (DT the) (NN boat)))) (. .))
"""

TREEBANK = [Tree.from_brackets(line) for line in _BRACKETS.strip().splitlines()]

# One category, one way to build it: every sentence has one tree.
UNAMBIGUOUS = [
    Tree.from_brackets(text)
    for text in (
        "(S (A (a x)) (B (b y) (c z)))",
        "(S (A (a x)) (B (b y) (c z) (d v) (e w)))",
        "(S (A (a x)) (B (C (f u))))",
    )
]


def words(tree):
    """Return the words of a tree."""
    return [leaf.label for leaf in tree.leaves()]


def tags(tree):
    """Return the parts of speech of a tree."""
    return [node.label for node in tree.preorder() if node.children and node.children[0].is_leaf]
