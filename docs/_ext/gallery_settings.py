"""Order and settings of the gallery examples, size of their figures, words for them."""

import re
import warnings

import matplotlib
import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import matplotlib_scraper
from sphinx_gallery.sorting import ExplicitOrder

from sklboolean.inspection._figure import COLORS

# Examples that are specific to this package come first.
in_order = ExplicitOrder(
    [
        "plot_rules_in_an_svc.py",
        "plot_data_frame_to_rules.py",
        "plot_explain_one_patient.py",
        "plot_explain_a_credit_decision.py",
        "plot_where_a_model_fails.py",
        "plot_deployment.py",
        "plot_model_comparison.py",
        "plot_text_top_words.py",
        "plot_rare_events.py",
        "plot_calibration.py",
        "plot_accuracy_and_length.py",
        "plot_boosting_with_noise.py",
        "plot_wrong_labels.py",
        "plot_labels_saved.py",
        "plot_labels_from_a_person.py",
        "plot_kernels_for_categories.py",
        "plot_relevances.py",
        "plot_irrelevant_features.py",
        "plot_mistakes_and_features.py",
        "plot_completing_digits.py",
        "plot_completing_a_table.py",
        "plot_ask_a_table.py",
        "plot_anomalies.py",
        "plot_hinton_diagrams.py",
        "plot_majority_game.py",
        "plot_averaged_or_last.py",
        "plot_grid_search.py",
        "plot_progress.py",
        "plot_seeds.py",
        "plot_saved_models.py",
        "plot_out_of_core.py",
        "plot_partitions.py",
    ]
)

_filters = []


def set_figures(gallery_conf, script):
    """Set a width that a phone can show, and the colours of the displays."""
    matplotlib.rcParams["figure.figsize"] = (5.5, 4.1)
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=COLORS)


def make_warnings_errors(gallery_conf, script, when):
    """Turn warnings into errors, as in tests, before and after each script."""
    if script is None:  # a folder is entered
        return
    if when == "before":
        _filters.append(warnings.filters[:])
        warnings.simplefilter("error")
    else:
        warnings.filters[:] = _filters.pop()


def figures_with_words(block, block_vars, gallery_conf):
    """Save the figures of a block, each with a text for those who do not see it."""
    texts = iter([describe(plt.figure(number)) for number in plt.get_fignums()])
    page = matplotlib_scraper(block, block_vars, gallery_conf)
    return re.sub(r":alt: .*", lambda _: f":alt: {next(texts)}", page)


def describe(figure):
    """Say what the axes of a figure show: titles, labels, and names of curves."""
    title = figure.get_suptitle()
    texts = [title] if title else []
    legends = [ax.get_legend() for ax in figure.axes] + figure.legends
    for ax in figure.axes:
        titles = [ax.get_title(loc) for loc in ("left", "center", "right")]
        x, y = ax.get_xlabel(), ax.get_ylabel()
        names = [label.get_text() for label in ax.get_yticklabels()]
        if not y and any(re.search("[a-z]{2}", name) for name in names):
            y = ", ".join(names)
        axes = f"{y} against {x}" if x and y else x or y
        texts += [text for text in (*titles, axes) if text]
    texts = list(dict.fromkeys(texts))[:5]
    for legend in legends:
        if legend is not None:
            names = [text.get_text() for text in legend.get_texts()]
            texts.append("Legend: " + ", ".join(names))
    return " ".join(". ".join(texts).split()) or "Pictures"
