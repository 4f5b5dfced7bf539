"""A fitted model as a web page: its rules, the samples they cover, and what-if."""

import json
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklboolean._core.feature_names import conjunction_words, split_pipeline
from sklboolean._core.formulas import feature_names_of, python_value
from sklboolean._core.parameters import check_integer
from sklboolean.inspection._sums import (
    as_bits,
    check_names,
    compare_with_predictions,
    final_estimator,
    read_sums,
    terms_that_hold,
)
from sklboolean.preprocessing import BooleanEncoder
from sklboolean.preprocessing._frames import is_frame, read_columns


def model_page(
    estimator, X, y, path=None, *, title=None, feature_names=None, max_samples=500
):
    """Write a web page on which a fitted model can be read and tried.

    The page is one HTML file. It lists the rules or weights, which can be sorted, shows
    the samples that satisfy a rule, and has a form in the columns of X. The form
    computes the probability in the browser and lists what holds. The file needs no
    network and no server. It contains the values of up to ``max_samples`` samples: take
    care with confidential data.

    Parameters
    ----------
    estimator : fitted estimator
        A `RuleClassifier`, a `ConjunctionClassifier`, a `ConjunctionLogisticRegression`
        or `ConjunctionRegressor`, a linear model with ``coef_``, a stump, or a
        `BoostByMajority` or `FilteringBoostByMajority` of stumps. A `QueryByCommittee`
        stands for its final estimator. Other models are no list of conditions: see
        `explain`. A pipeline ends in one of these; with a `BooleanEncoder` as its only
        other step the form has the columns of X, else the features of the last step. A
        search such as ``GridSearchCV`` stands for its best estimator.
    X : data frame or array-like of shape (n_samples, n_features)
        Samples, for coverage and precision and to look at.
    y : array-like of shape (n_samples,)
        Labels, or real values for a regressor.
    path : str, path or None, default=None
        File to write. None: do not write.
    title : str or None, default=None
        Title of the page. None: the class of the model.
    feature_names : sequence of str or None, default=None
        Names of the features of the last step. None: those that it knows.
    max_samples : int, default=500
        Maximum number of samples in the file, the first ones; 0 for none. Coverage and
        precision are those of all samples.

    Returns
    -------
    page : str
        The HTML document.

    Raises
    ------
    ValueError
        For a model of another kind, and when the sum of the conjunctions is not what
        the model predicts, for example because a transformer is missing.

    See Also
    --------
    RuleDisplay : Rules as a bar chart.
    top_features : The features with the largest weight.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import BooleanEncoder, RuleClassifier
    >>> from sklboolean.inspection import model_page
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(BooleanEncoder(), RuleClassifier(random_state=0))
    >>> page = model_page(model.fit(X, y), X, y)
    >>> page.startswith("<!doctype html>")
    True
    """
    check_is_fitted(estimator)
    check_integer(max_samples, "max_samples", 0)
    check_consistent_length(X, y)
    whole = getattr(estimator, "best_estimator_", estimator)
    transformers, last, names = split_pipeline(whole)
    last = final_estimator(last)
    bits = X if transformers is None else transformers.transform(X)
    bits = as_bits(bits, getattr(last, "binarize", 0.0))
    names = check_names(
        names if feature_names is None else feature_names, bits.shape[1]
    )
    model = read_sums(last)
    held = terms_that_hold(model.terms, bits)
    compare_with_predictions(model.evaluate(held), whole, X, model.link)

    y, classes = np.asarray(y), None
    if model.link != "value":
        classes = [python_value(label) for label in last.classes_]
    data = {
        "title": str(title or type(last).__name__),
        "about": (
            f"{len(bits)} samples. Choose a rule to see the samples that satisfy it; "
            "change a value to see what the model predicts then."
        ),
        "rows": _rows(model, held, y, classes, names),
        "n_samples": len(bits),
    }
    used = sorted({feature for literals in model.terms for feature, _ in literals})
    data |= _model_data(model, last, classes, used)
    data |= _form_data(transformers, X, bits, used, names, max_samples)
    data |= _sample_data(X, y[:max_samples], classes)
    page = _document(data)
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page


def _model_data(model, last, classes, used):
    """Describe the sums for the script of the page, which evaluates them."""
    place = {feature: k for k, feature in enumerate(used)}
    return {
        "link": model.link,
        "slope": float(model.slope),
        "classes": classes and [str(label) for label in classes],
        "games": model.games,
        "outputs": _outputs(model, classes),
        "default": None if model.link != "first" else str(_default(last, model)),
        "terms": [
            [[place[feature], bool(value)] for feature, value in literals]
            for literals in model.terms
        ],
        "probabilities": _plain(model.probabilities),
        "intercepts": _plain(model.intercepts),
    }


def _form_data(transformers, X, bits, used, names, max_samples):
    """Describe the form, in the columns of X where an encoder made the features."""
    encoder = _only_encoder(transformers)
    if encoder is None:
        columns, features, values = _plain_columns(used, names, bits)
    else:
        columns, features, values = _encoded_columns(encoder, X, bits, used)
    return {"columns": columns, "features": features, "samples": values[:max_samples]}


def _sample_data(X, y, classes):
    """Give the names and labels of the samples that are shown, the first of X."""
    index = X.index[: len(y)] if hasattr(X, "iloc") else range(len(y))
    labels = map(python_value, y)
    return {
        "sample_names": [str(name) for name in index],
        "y": list(labels if classes is None else map(str, labels)),
    }


def _document(data):
    """Write the data of a page into its template."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    # No text can end the script element.
    text = text.replace("<", "\\u003c")
    page = files("sklboolean.inspection").joinpath("model_page.html").read_text("utf-8")
    before, rest = page.split("@TITLE@")
    between, after = rest.split("@DATA@")
    return before + escape(data["title"]) + between + text + after


def _outputs(model, classes):
    """Name the sums: of a class, or of two classes that play a game."""
    if model.games is not None:
        return [
            f"{classes[first]} or {classes[second]}" for first, second, _ in model.games
        ]
    several = model.weights is not None and len(model.weights) > 1
    return [str(label) for label in classes] if several else [""]


def _default(last, model):
    if hasattr(last, "default_"):
        return python_value(last.default_)
    return python_value(last.classes_[model.probabilities[-1].argmax()])


def _rows(model, held, y, classes, names):
    """Describe each rule, or each weight of each output."""
    texts = [
        " and ".join(conjunction_words(literals, names)) or "always"
        for literals in model.terms
    ]
    coverage = held.sum(axis=0).tolist()
    rows = []

    def append(term, output, weight, label, hits):
        covered = held[:, term]
        precision = float(np.mean(hits[covered])) if covered.any() else None
        rows.append(
            {
                "number": len(rows) + 1, "term": term, "output": output,
                "text": texts[term], "weight": weight, "label": label,
                "coverage": coverage[term], "precision": precision,
            }
        )  # fmt: skip

    if model.link == "first":
        for term, label in enumerate(model.labels):
            append(term, 0, None, str(label), y == label)
        return rows
    cells = np.argwhere(model.weights != 0)
    sizes = np.abs(model.weights[tuple(cells.T)])
    for output, term in cells[np.argsort(-sizes, kind="stable")].tolist():
        weight = float(model.weights[output, term])
        if classes is None:
            append(term, output, weight, "", np.asarray(y, dtype=float))
            continue
        if model.games is not None:
            pair = [classes[code] for code in model.games[output][:2]]
            pair = pair if weight < 0 else pair[::-1]
            speaks_for, hits = f"{pair[0]}, not {pair[1]}", y == pair[0]
        else:
            label = classes[1 if len(model.weights) == 1 else output]
            speaks_for = label if weight > 0 else f"not {label}"
            hits = (y == label) == (weight > 0)
            if len(model.weights) == 1 and weight < 0:
                speaks_for = classes[0]
        append(term, output, weight, str(speaks_for), hits)
    return rows


def _only_encoder(transformers):
    if isinstance(transformers, Pipeline) and len(transformers) == 1:
        transformers = transformers[0]
    return transformers if isinstance(transformers, BooleanEncoder) else None


def _plain_columns(used, names, bits):
    """Describe Boolean features as columns of the form."""
    columns = [
        {"name": names[j], "kind": "boolean", "can_be_missing": False} for j in used
    ]
    features = [{"column": k, "relation": "=", "value": 1} for k in range(len(used))]
    return columns, features, bits[:, used].astype(int).tolist()


def _encoded_columns(encoder, X, bits, used):
    """Describe the columns before the encoder and what the features say of them."""
    groups = encoder.feature_groups_
    described = {}
    columns, features, values = [], [], []
    names = feature_names_of(encoder)
    read = read_columns(encoder, X if is_frame(X) else np.asarray(X), reset=False)
    for j in used:
        label = groups[j]
        number = names.index(str(label))
        if number not in described:
            places = np.flatnonzero(groups == label)
            described[number] = len(columns), _conditions(encoder, number, places)
            column = _column(encoder, number, str(label), places, read[number])
            columns.append(column)
            values.append(_column_values(column, read[number], bits[:, places]))
        where, conditions = described[number]
        relation, value = conditions[j]
        features.append({"column": where, "relation": relation, "value": value})
    samples = [list(row) for row in zip(*values, strict=True)]
    return columns, features, samples or [[] for _ in range(len(bits))]


def _conditions(encoder, number, places):
    """Map each feature of a column to its relation and value."""
    kind, thresholds = encoder.kinds_[number], encoder.thresholds_[number].tolist()
    if kind == "category":
        said = [("=", k) for k in range(len(places))]
    elif kind == "boolean":
        said = [("=", 1)]
    else:
        said = [("<=", t) for t in thresholds]
        said += [(">", t) for t in thresholds if encoder.complement]
    said += [("missing", None)] * (len(places) - len(said))
    return dict(zip(places.tolist(), said, strict=True))


def _column(encoder, number, label, places, read):
    """Describe a column for the form."""
    kind = encoder.kinds_[number]
    column = {"name": label, "kind": kind, "can_be_missing": False}
    names = encoder.get_feature_names_out()[places]
    if kind == "category":
        levels = [str(name).removeprefix(f"{label} = ") for name in names]
        n_levels = len(encoder.categories_[number])
        extra = [str(name).removeprefix(f"{label} is ") for name in names[n_levels:]]
        options = levels[:n_levels] + [f"({word})" for word in extra]
        return column | {"options": [*options, "(another level)"]}
    column["can_be_missing"] = str(names[-1]) == f"{label} is missing"
    if kind == "number":
        numbers = np.empty(0) if read.numbers is None else read.numbers
        known = numbers[~np.isnan(numbers)].tolist()
        edges = [*encoder.thresholds_[number].tolist(), *known]
        column |= {"low": min(edges, default=0.0), "high": max(edges, default=1.0)}
    return column


def _column_values(column, read, bits):
    """List the value of each sample for the form; None where it is missing."""
    if column["kind"] == "category":
        return np.where(bits.any(axis=1), bits.argmax(axis=1), bits.shape[1]).tolist()
    if read.numbers is None:
        return [None] * len(bits)
    return [None if np.isnan(value) else value for value in read.numbers.tolist()]


def _plain(array):
    return None if array is None else array.tolist()
