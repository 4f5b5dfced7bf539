"""Order, settings and figure size of the gallery examples."""

import warnings

import matplotlib
from sphinx_gallery.sorting import ExplicitOrder

# Examples that are specific to this package come first.
in_order = ExplicitOrder(
    [
        "plot_rules_in_an_svc.py",
        "plot_data_frame_to_rules.py",
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
        "plot_irrelevant_features.py",
        "plot_mistakes_and_features.py",
        "plot_completing_digits.py",
        "plot_completing_a_table.py",
        "plot_anomalies.py",
        "plot_hinton_diagrams.py",
        "plot_majority_game.py",
        "plot_averaged_or_last.py",
        "plot_grid_search.py",
        "plot_out_of_core.py",
    ]
)

_filters = []


def make_figures_narrow(gallery_conf, script):
    """Set a figure width that is readable on a phone, before and after each script."""
    matplotlib.rcParams["figure.figsize"] = (5.5, 4.1)


def make_warnings_errors(gallery_conf, script, when):
    """Turn warnings into errors, as in tests, before and after each script."""
    if script is None:  # a folder is entered
        return
    if when == "before":
        _filters.append(warnings.filters[:])
        warnings.simplefilter("error")
    else:
        warnings.filters[:] = _filters.pop()
