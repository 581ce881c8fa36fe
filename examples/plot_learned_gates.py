"""
Which labels are noise?
=======================

A kernel compares all labels alike. If structures have classes, a learner finds out which labels
only make noise, and closes their gates.
"""

import matplotlib.pyplot as plt

import kernelwood as kw

# %%
# Paths whose class shows at one element, among eight that mean nothing. Half of them are to
# learn from, the others to test.

paths, classes, signal, noise = kw.tuning.planted_paths(400, n_signal=4, n_noise=6, length=(1, 8))
train, test = slice(0, 200), slice(200, 400)
print(paths[0])
print("signal:", *signal)
print("noise:", *noise)

# %%
# Gates are learned by nearest neighbors, three times with other random numbers. Red labels are
# ignored: the loss is smaller without them. Blue ones are kept. At the right is how many runs
# ignore a label.

kernel = kw.SubsequenceKernel()
learner = kw.GateLearner(kernel, labels=1.0, n_passes=3, n_runs=3, random_state=0)
report = learner.fit(paths[train], classes[train]).report()
print(report)
report.plot()
plt.show()

# %%
# More passes close more gates: a source of noise is heard only when others are silent. The accuracy
# of the nearest neighbor on the other half follows.

passes = [0, 1, 2, 3]
accuracies = []
for n_passes in passes:
    if n_passes:
        learner = kw.GateLearner(kernel, labels=1.0, n_passes=n_passes, random_state=0)
        used = learner.fit(paths[train], classes[train]).kernel_
    else:
        used = kernel
    model = kw.KernelNeighborsClassifier(used, n_neighbors=1).fit(paths[train], classes[train])
    accuracies.append(model.score(paths[test], classes[test]))

figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.plot(passes, accuracies, marker="o")
axis.set_xticks(passes)
axis.set_xlabel("passes through the labels")
axis.set_ylabel("accuracy")
axis.set_ylim(0.5, 1)
plt.show()
