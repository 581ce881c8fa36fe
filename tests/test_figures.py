"""Figures in files, and maps of structures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.evaluate import Estimate
from kernelwood.figures import _legend_rows, check_figure, draw_curve, draw_map, save_figure

BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF-"}
POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@pytest.fixture
def ax():
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib.figure import Figure

    return Figure().subplots()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_a_figure_is_written_as_its_name_says(ax, tmp_path, suffix):
    path = tmp_path / f"map.{suffix}"
    save_figure(lambda ax: draw_map(ax, POINTS, list("aabb")), path, (3, 2))
    assert path.read_bytes().startswith(BEGINNINGS[suffix])


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_the_same_drawing_gives_the_same_bytes(ax, tmp_path, suffix):
    paths = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for path in paths:
        save_figure(lambda ax: draw_map(ax, POINTS, list("aabb")), path, (3, 2))
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_nothing_is_left_of_a_drawing_that_fails(ax, tmp_path):
    def fail(ax):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        save_figure(fail, tmp_path / "map.png", (3, 2))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_suffix_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match=r"map\.bmp: .* \.png, \.svg or \.pdf"):
        check_figure("map.bmp")


def test_the_legend_names_groups_by_falling_size(ax):
    draw_map(ax, POINTS, ["small", "large", "large", "large"])
    assert legend(ax) == ["large (3)", "small (1)"]


def test_points_without_a_label_are_told(ax):
    draw_map(ax, POINTS, ["a", None, "a", None])
    assert legend(ax) == ["a (2)", "no label (2)"]


def test_there_is_no_legend_without_groups(ax):
    draw_map(ax, POINTS)
    assert ax.get_legend() is None


def test_many_groups_become_others(ax):
    draw_map(ax, np.random.default_rng(0).random((40, 2)), [str(i) for i in range(40)])
    names = legend(ax)
    assert (len(names), names[-1]) == (12, "other (29)")


def test_as_many_groups_as_there_are_shapes_are_named(ax):
    draw_map(ax, np.random.default_rng(0).random((12, 2)), [str(i) for i in range(12)])
    assert not any("other" in name for name in legend(ax))


def test_every_point_is_drawn_where_it_belongs(ax):
    draw_map(ax, POINTS, list("abba"))
    drawn = {
        tuple(place): path.get_label()
        for path in ax.collections
        for place in path.get_offsets().tolist()
    }
    expected = {(0.0, 0.0): "a (2)", (1.0, 0.0): "b (2)", (0.0, 1.0): "b (2)", (1.0, 1.0): "a (2)"}
    assert drawn == expected


def test_texts_are_cut_and_are_no_formulas(ax, tmp_path):
    text = "costs $5_ or " + "more " * 20
    draw_map(ax, POINTS, ["$x_"] * 4, title="$y_", texts={3: text})
    ax.figure.savefig(tmp_path / "map.png")  # which would parse formulas
    [written] = [text.get_text() for text in ax.texts]
    assert written == text[:37] + "..."


@pytest.mark.parametrize("points", [np.zeros((4, 3)), np.zeros(4), np.full((4, 2), np.nan)])
def test_what_is_no_point_is_refused(points):
    with pytest.raises(kw.errors.KernelInputError, match="points of a map"):
        draw_map(None, points)


def test_groups_must_be_as_many_as_points():
    with pytest.raises(kw.errors.KernelInputError, match="4 points cannot have 3 groups"):
        draw_map(None, POINTS, list("abc"))


@given(st.lists(st.one_of(st.none(), st.text(max_size=2), st.integers(0, 30)), max_size=60))
def test_no_two_groups_look_the_same_and_no_point_is_lost(groups):
    rows = _legend_rows(groups, 12)
    styles = [(style["color"], style["marker"]) for _, _, style in rows]
    places = sorted(place for _, chosen, _ in rows for place in chosen.tolist())
    assert len(set(styles)) == len(rows) <= 12
    assert places == list(range(len(groups)))


VALUES = [Estimate(0.5, 0.4, 0.6), Estimate(0.6, 0.5, 0.7), Estimate(0.7, 0.6, 0.8)]


def drawn(ax):
    return [line.get_ydata().tolist() for line in ax.get_lines() if line.get_marker() in "o^"]


def test_a_curve_has_a_tick_for_each_size_and_for_twice_the_last(ax):
    draw_curve(ax, [10, 20, 1000], VALUES, Estimate(0.75, 0.7, 0.9))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["10", "20", "1,000", "2,000"]
    assert drawn(ax) == [[0.5, 0.6, 0.7], [0.75]]
    assert legend(ax) == ["cross-validated", "expected"]


def test_error_bars_of_a_curve_are_its_intervals(ax):
    draw_curve(ax, [10, 20, 40], VALUES)
    [bars] = ax.collections
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert np.array(ends) == pytest.approx(np.array([[0.4, 0.6], [0.5, 0.7], [0.6, 0.8]]))


def test_a_curve_without_intervals_is_a_line(ax):
    draw_curve(ax, [10, 20], [Estimate(0.5), Estimate(0.6)])
    assert drawn(ax) == [[0.5, 0.6]] and len(ax.collections) == 0
