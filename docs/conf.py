"""The documentation site: sphinx-build -W docs docs/_build."""

import importlib.metadata
import importlib.util
import os
import sys
from pathlib import Path

import matplotlib

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
matplotlib.use("agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

project = "sklboolean"
author = "the sklboolean developers"
project_copyright = author
release = importlib.metadata.version("sklboolean")
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "linked_names",
    "search_words",
]
if importlib.util.find_spec("sphinx_copybutton"):
    extensions.append("sphinx_copybutton")
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
exclude_patterns = ["_build", "examples", "paper", "**/README.md"]
templates_path = ["_templates"]
default_role = "literal"
smartquotes = False  # "balanced" is what a user types
nitpicky = True
# Pages of other packages are not available without a network.
nitpick_ignore_regex = [(r"py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib)\..*")]
suppress_warnings = ["myst.header"]  # benchmarks print tables under small headings

search_words = {
    "user_guide/choose": "choose, which estimator, which model",
    "user_guide/capabilities": "export, which model can I export, capabilities",
    "user_guide/tune": (
        "tune, tuning, hyper-parameters, grid search, cross-validation, overfitting"
    ),
    "user_guide/speed": "speed, latency, memory, seconds of a fit",
    "user_guide/compare": "compare, comparison, alternatives, migrate, GPU, LightGBM",
    "user_guide/data": "one-hot, one-hot encoding, sparse data, sample weights",
    "user_guide/data_frames": (
        "data frame, data frames, mixed table, categories, pandas categories, dates, "
        "ordinal, ordered categories, high cardinality"
    ),
    "user_guide/imbalanced_classes": (
        "imbalanced, class imbalance, rare class, confusion matrix, class weights, "
        "ROC AUC, decision threshold"
    ),
    "user_guide/missing_values": "missing values, missing, gaps, imputation, NaN",
    "user_guide/label_noise": "label noise, noisy labels, wrong labels",
    "user_guide/deploy": (
        "deploy, deployment, production, ONNX, SQL, export to SQL, JSON, database"
    ),
    "user_guide/model_in_use": "drift, monitoring, edit a model",
    "user_guide/ensemble": (
        "multiclass, several classes, prediction interval, interval, regression"
    ),
    "user_guide/boosting": "boosted trees, gradient boosting, decision tree",
    "user_guide/conjunction_models": (
        "monotone constraints, monotonic, calibrated probabilities, time limit, "
        "feature selection"
    ),
    "user_guide/rules": "rules, if-then rules, decision list",
    "user_guide/scorecards": "scorecard, credit scoring",
    "user_guide/least_changes": "counterfactual, recourse, smallest change",
    "user_guide/subgroups": (
        "subgroup discovery, slices, error analysis, uplift, treatment effect, fairness"
    ),
    "user_guide/explain_a_prediction": (
        "Shapley, SHAP, feature importance, partial dependence, explain, "
        "why was this predicted, interactions"
    ),
    "user_guide/ask_a_table": "privacy, conditional probability",
    "user_guide/density": "anomaly, anomaly detection, outlier",
    "user_guide/active_learning": "uncertainty sampling, which samples to label",
    "user_guide/online": (
        "online learning, stream, partial_fit, warm start, text classification"
    ),
    "user_guide/larger_than_memory": (
        "large files, out of memory, memory error, big data, cluster"
    ),
    "user_guide/persistence": (
        "save a model, save model, load model, pickle, joblib, skops"
    ),
    "user_guide/progress": "progress, progress bar, callbacks, verbose",
    "user_guide/reproduce": "reproduce, reproducible, seeds",
}

# API pages: the docstrings, and the methods that this package wrote.
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say more
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# User guide
myst_enable_extensions = ["attrs_inline", "colon_fence", "fieldlist"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": "quickstart",
    "within_subsection_order": "gallery_settings.in_order",
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("sklboolean",),
    "download_all_examples": False,
    "write_computation_times": False,
    "show_signature": False,
    "capture_repr": (),
    "reset_modules": (
        "matplotlib",
        "gallery_settings.set_figures",
        "gallery_settings.make_warnings_errors",
    ),
    "reset_modules_order": "both",
    "image_srcset": ["2x"],
    "image_scrapers": ("gallery_settings.figures_with_words",),
}

# Pages load nothing from the network: fonts and the search are part of the site.
html_theme = "pydata_sphinx_theme"
html_title = "sklboolean"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_ext" / "search_order.js")
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "text": "sklboolean",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "alt_text": "sklboolean: home",
    },
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
html_sidebars = {"index": [], "install": [], "tour": [], "references": []}
