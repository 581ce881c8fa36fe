"""Search for terms in plain Python: a prefix tree of pieces."""

from bisect import bisect_right

from kernelwood.entities.pieces import cut_pieces


class ReferenceSearch:
    """What :class:`kernelwood.entities.term_search.TermSearch` does.

    A node of the tree maps the folded text of a piece to the next node. If a term ends here, it
    also maps its written pieces, or None if case is ignored, to the number of the term; the key ""
    marks nodes with terms of the first kind.
    """

    def __init__(self, terms, ignores_case, variants):
        self.variants = variants
        self.start = {}
        self.placed = []
        n = 0
        for term in terms:
            node, key = self._place(term, ignores_case(term))
            earlier = node.get(None, node.get(key))
            if earlier is None:
                node[key] = n
                self.placed.append(n)
                n += 1
            else:
                self.placed.append(-1 - earlier)

    def _place(self, term, ignores_case):
        node = self.start
        pieces = cut_pieces(term, self.variants).pieces
        for piece in pieces:
            node = node.setdefault(piece.folded, {})
        if ignores_case:
            return node, None
        node[""] = True
        return node, tuple(piece.written for piece in pieces)

    def find(self, text, taken=()):
        cut = cut_pieces(text, self.variants)
        room = Room(taken, len(text))
        found, place = [], 0
        while place < len(cut.pieces):
            piece = cut.pieces[place]
            if piece.begins and piece.folded in self.start:
                end, term = self._longest(cut, place, room)
                if term is not None:
                    found.append((*cut.span(place, end), term))
                    place = end
                    continue
            place += 1
        return found

    def _longest(self, cut, first, room):
        limit = room.limit(cut.span(first, first + 1)[0])
        node = self.start
        ends = []
        for place in range(first, len(cut.pieces)):
            piece = cut.pieces[place]
            if piece.folded not in node or cut.tokens[place] + piece.end > limit:
                break
            node = node[piece.folded]
            if piece.ends and (None in node or "" in node):
                ends.append((place + 1, node))
        for end, node in reversed(ends):
            written = tuple(piece.written for piece in cut.pieces[first:end])
            numbers = [node[key] for key in (None, written) if key in node]
            if numbers:
                return end, min(numbers)
        return first, None


class Room:
    """The parts of a text between spans that are taken."""

    def __init__(self, taken, length):
        self.starts, self.ends = [], []
        for start, end in sorted(taken):
            if self.ends and start <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)
        self.length = length

    def limit(self, place):
        following = bisect_right(self.ends, place)
        return self.starts[following] if following < len(self.starts) else self.length
