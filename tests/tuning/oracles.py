"""Algorithm 1 of gate learning in plain Python, kernel values by definition."""

from kernelwood.seeds import child_generator
from kernelwood.tuning.problem import with_gates


class Reference:
    """Decides on one label after the other; random draws are those of the library."""

    def __init__(self, kernel, paths, classes, *, kind, labels, seed, samples, trials, k):
        self.kernel, self.paths, self.classes = kernel, list(paths), classes.tolist()
        self.kind, self.votes, self.labels, self.seed = (
            kind,
            3 if kind == "votes" else 1,
            labels,
            seed,
        )
        self.samples, self.trials, self.k = samples, trials, k
        self.known = {}

    def similarities(self, gates):
        key = tuple(gates.items())
        if key not in self.known:
            kernel, n = with_gates(self.kernel, gates), len(self.paths)
            raw = {}
            for i in range(n):
                for j in range(i + 1):
                    raw[i, j] = raw[j, i] = kernel.reference(self.paths[i], self.paths[j])
            self.known[key] = {
                (i, j): value / (raw[i, i] * raw[j, j]) ** 0.5 if raw[i, i] * raw[j, j] else 0.0
                for (i, j), value in raw.items()
            }
        return self.known[key]

    def neighbors(self, gates, positions, k):
        similarities = self.similarities(gates)
        nearest = {}
        for i in positions:
            others = [j for j in positions if j != i]
            # Rounded: the order of operations must not decide between equal ones.
            others.sort(key=lambda j: (-round(similarities[i, j], 9), j))
            nearest[i] = [(j, similarities[i, j]) for j in others[:k]]
        return nearest

    def loss(self, gates, positions):
        return sum(
            self.one_loss(i, found, nothing_left=not self.similarities(gates)[i, i])
            for i, found in self.neighbors(gates, positions, self.votes).items()
        )

    def one_loss(self, i, found, nothing_left):
        own = self.classes[i]
        if self.kind == "paper":
            [(j, similarity)] = found
            if self.classes[j] != own:
                return similarity
            return -similarity if own == 1 else 0.0
        share = self.classes.count(own) / len(self.classes)
        total = sum(similarity for _, similarity in found)
        agreeing = sum(similarity for j, similarity in found if self.classes[j] == own)
        if not total:
            return 1.0 if nothing_left else 0.0
        return 1 - agreeing / total / share

    def sample(self, containing, graph, t, trial):
        drawn = containing
        if len(containing) > self.samples:
            random = child_generator(self.seed, 0, 0, 3, t, trial)
            drawn = random.choice(containing, self.samples, replace=False).tolist()
        forward = {j for i in drawn for j, _ in graph[i]}
        backward = {i for i in graph for j, _ in graph[i] if j in set(drawn)}
        first = {graph[i][0][0] for i in forward | backward}
        return sorted(set(drawn) | forward | backward | first)

    def one_pass(self):
        opened = {label: self.kernel.gates[label] for label in self.labels}
        gates = dict(opened)
        everything = range(len(self.paths))
        graph = self.neighbors(gates, everything, self.k)
        for t, label in enumerate(self.labels):
            containing = [i for i in everything if label in dict(self.paths[i])]
            trials = self.trials if len(containing) > self.samples else 1
            chosen = [self.sample(containing, graph, t, trial) for trial in range(trials)]
            losses = {
                value: sum(self.loss({**gates, label: value}, some) for some in chosen)
                for value in (0.0, opened[label])
            }
            if losses[0.0] < losses[opened[label]]:
                gates[label] = 0.0
            yield label, gates[label], sum(map(len, chosen)), losses
