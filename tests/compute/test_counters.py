import threading

import kernelwood as kw
from kernelwood.compute import Counters, count_evaluations
from kernelwood.structures import Sequence

KERNEL = kw.SubsequenceKernel()
SEQUENCES = [Sequence(["a", "b"]), Sequence(["b"]), Sequence(["a"])]


def test_counting_starts_at_nothing():
    with kw.compute.counting() as counters:
        pass
    assert counters == Counters()


def test_computations_add_up():
    with kw.compute.counting() as counters:
        KERNEL.gram(SEQUENCES)
        KERNEL.cross(SEQUENCES, SEQUENCES[:1])
    assert counters.kernel_evaluations == 6 + 3
    assert counters.blocks >= 2 and counters.seconds > 0


def test_counting_ends_with_its_block():
    with kw.compute.counting() as counters:
        KERNEL.gram(SEQUENCES)
    KERNEL.gram(SEQUENCES)
    assert counters.kernel_evaluations == 6


def test_nested_counters_count_the_same():
    with kw.compute.counting() as outer:
        KERNEL.gram(SEQUENCES)
        with kw.compute.counting() as inner:
            KERNEL.gram(SEQUENCES)
    assert (outer.kernel_evaluations, inner.kernel_evaluations) == (12, 6)


def test_counters_add_up_across_threads():
    counters = Counters()
    threads = [
        threading.Thread(target=lambda: [counters.add(1, 0.0, 1) for _ in range(5000)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counters.kernel_evaluations, counters.blocks) == (20_000, 20_000)


def test_counting_nothing_is_harmless():
    count_evaluations(1, 0.1, 1)
