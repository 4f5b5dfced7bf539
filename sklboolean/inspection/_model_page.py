"""A fitted model as a web page: its rules, the samples they cover, and what-if."""

import json
from dataclasses import replace
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklboolean._core.feature_names import FeatureNames, split_pipeline
from sklboolean._core.formula import FirstRule
from sklboolean._core.formulas import conjunction_text, python_value
from sklboolean._core.parameters import check_integer
from sklboolean.inspection._formulas import (
    as_bits,
    check_names,
    compare_with_predictions,
)
from sklboolean.inspection._legal_states import (
    check_changes,
    legal_states,
    possible_bits,
)
from sklboolean.inspection._products import weighted_products
from sklboolean.inspection._user_columns import UserColumns
from sklboolean.preprocessing._derived_columns import refuse_by_type
from sklboolean.preprocessing._encoded_columns import level_names, level_text
from sklboolean.preprocessing._frames import is_frame, read_columns

# The page is the file model_page.html with one JSON object, `data`, which its script
# reads. "columns" are the inputs of the form, "features" the conditions on them that
# terms test, "terms" pairs of a number in "features" and a value, "rows" the lines of
# the table of rules, and "shapley" the products whose values the script adds up.
# Everything that the script computes it computes from these fields.

MOST_COLUMNS = 30  # of a product: the script has integers of 32 bits
MOST_PRODUCTS = 2000  # of rules: about 100 bytes each


def model_page(
    estimator, X, y, path=None, *, title=None, feature_names=None, max_samples=500,
    costs=None, immutable=(), directions=None,
) -> str:  # fmt: skip
    """Write a web page on which a fitted model can be read and tried.

    The page is one HTML file. It lists the rules or weights, which can be sorted, with
    the grades of a rule folded below it, shows the samples that satisfy a rule, and has
    a form in the columns of X. The form computes the probability in the browser and
    lists what holds, finds the cheapest change of one or two columns that turns the
    prediction, and shows what each column adds to the score: its Shapley value against
    all samples of X, unless rules overlap very much. A scorecard is added up. A chosen
    rule has the call that leaves it out, such as ``with_rules``, to copy. The page
    states what is proved about the model. The file needs no network and no server. It
    contains the values of up to ``max_samples`` samples: take care with confidential
    data.

    Parameters
    ----------
    estimator : fitted estimator
        A list of conditions or a sum of them: rules, conjunction models, boosted trees
        and stumps, scorecards, linear models with ``coef_``, ensembles of these, and
        kernel models whose kernel is not normalized. A `QueryByCommittee` stands for
        its final estimator. For other models see `explain`. A pipeline ends in one of
        these; with a `BooleanEncoder` as its only other step, or a
        ``ColumnTransformer`` of encoders, the form has the columns of X, else the
        features of the last step. A search such as ``GridSearchCV`` stands for its best
        estimator.
    X : data frame or array-like of shape (n_samples, n_features)
        Samples, for coverage and precision and to look at.
    y : array-like of shape (n_samples,)
        Labels, or real values for a regressor.
    path : str, path or None, default=None
        File to write. None: do not write.
    title : str or None, default=None
        Title of the page. None: the class of the model.
    feature_names : sequence of str or None, default=None
        Names of the features of the last step. None: its column names.
    max_samples : int, default=500
        Maximum number of samples in the file, the first ones; 0 for none. Coverage and
        precision are those of all samples.
    costs : dict or None, default=None
        Cost of a change by name of the column, a number above 0; others cost 1, as for
        `counterfactuals`. Readers can alter costs, and what may change, on the page.
    immutable : sequence of str, default=()
        Columns that must not change.
    directions : dict or None, default=None
        "up" or "down" for columns that may only rise or fall.

    Returns
    -------
    page : str
        The HTML document.

    Raises
    ------
    ValueError
        For a model of another kind, when the sum of the conjunctions is not what the
        model predicts, for example because a transformer is missing, for an unknown
        column or direction, and a cost that is not a number above 0.

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
    >>> X = X.iloc[:, :8]
    >>> model = make_pipeline(BooleanEncoder(), RuleClassifier(random_state=0))
    >>> page = model_page(model.fit(X[::4], y[::4]), X[::4], y[::4])
    >>> page.startswith("<!doctype html>")
    True
    """
    check_is_fitted(estimator)
    check_integer(max_samples, "max_samples", 0)
    check_consistent_length(X, y)
    _, last, names = split_pipeline(estimator)
    user_columns = UserColumns.of(estimator)
    formula = user_columns.formula
    bits = as_bits(user_columns.samples(X), formula.columns.binarize)
    names = names if feature_names is None else feature_names
    names = FeatureNames(check_names(names, bits.shape[1]))
    if not user_columns.is_encoded:
        user_columns = replace(user_columns, names=names.names)
    compare_with_predictions(formula, bits, estimator, X)
    # Only features that a term tests are written.
    used = sorted({feature for term in formula.terms for feature, _ in term})
    samples = _sample_fields(user_columns, X, y, bits, used, max_samples)
    owners = {
        feature: described["column"]
        for feature, described in zip(used, samples["features"], strict=True)
    }
    _add_changes(samples["columns"], owners, user_columns, costs, immutable, directions)
    data = {
        "title": str(title or type(last).__name__),
        "about": (
            f"{len(bits)} samples. Choose a rule to see the samples that satisfy it; "
            "change a value to see what the model predicts then."
        ),
        "proof": [*formula.proof, *formula.columns.directions],
        "n_columns": len(user_columns.names),
        **_formula_fields(formula, used, names),
        "rows": _rows(estimator, user_columns, bits, np.asarray(y), names),
        "shapley": _shapley_fields(user_columns, bits, owners),
        **samples,
    }
    page = _fill_page(data)
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page


def _shown(formula):
    """Return the formula whose terms have a row each: rules without their grades."""
    return getattr(formula, "of_labels", None) or formula


def _term_fields(formula, used, names):
    """Describe the terms, and the grades of rules, of each what it adds to its rule.

    Returns
    -------
    fields : dict
        "terms": grades, of which the first decides, come before the rules. "grades": a
        list for each rule, and one for samples without a rule, of pairs of a text and
        the probability of the label. Lists of one grade are empty. "grade_texts": the
        texts in the order of the grades.
    """
    shown = _shown(formula)
    terms = [*formula.terms, *(() if shown is formula else shown.terms)]
    numbers = {feature: k for k, feature in enumerate(used)}
    terms = [[[numbers[j], bool(value)] for j, value in term] for term in terms]
    if shown is formula:
        return {"terms": terms, "grades": [], "grade_texts": []}
    rules = [*map(set, shown.terms), set()]
    grades, texts = [[] for _ in rules], []
    labels, table = [*formula.labels, formula.default], formula.probabilities
    for term, label, row in zip([*formula.terms, ()], labels, table, strict=True):
        # A grade has the literals of its rule, and of no rule before it.
        rule = next(k for k, literals in enumerate(rules) if literals <= set(term))
        added = [literal for literal in term if literal not in rules[rule]]
        texts.append(" and ".join(names.words(added)))
        grades[rule].append([texts[-1], float(row[formula.classes.index(label)])])
    grades = [of_rule if len(of_rule) > 1 else [] for of_rule in grades]
    return {"terms": terms, "grades": grades, "grade_texts": texts}


def _formula_fields(formula, used, names):
    """Describe the formula as the script of the page evaluates it."""
    classes = formula.classes
    # Values for lists of rules; sums replace some of them.
    fields = {
        "link": "first",
        "slope": 1.0,
        "tie": getattr(formula, "tie", 0),
        "classes": classes and [str(label) for label in classes],
        "games": None,
        "outputs": [""],
        "labels": None,
        "default": None,
        "probabilities": None,
        "intercepts": None,
        "is_card": False,
        **_term_fields(formula, used, names),
    }
    if isinstance(formula, FirstRule):
        probabilities = formula.probabilities.tolist()
        return fields | {
            "labels": [str(label) for label in formula.labels],
            "default": str(formula.default),
            "probabilities": probabilities,
        }
    link = "logistic" if formula.has_probabilities else "score"
    fields |= {
        "link": "value" if classes is None else link,
        "slope": float(formula.slope),
        "is_card": formula.has_points,
        "intercepts": formula.scaled()[1].tolist(),
    }
    if formula.games is not None:
        pairs = zip(formula.games, formula.divisors.tolist(), strict=True)
        fields["games"] = [[*game, int(n_votes)] for game, n_votes in pairs]
        fields["outputs"] = formula.output_names()
    elif len(formula.weights) > 1:
        fields["outputs"] = fields["classes"]
    return fields


def _shapley_fields(columns, bits, owners):
    """Describe the scores as sums of products, with the samples that fail each.

    Returns
    -------
    fields : dict, or None
        None where a product has more than 30 columns, and for rules that overlap so
        much that there are more than 2000 products. Otherwise "outputs", their
        "intercepts" and "products". Each of these has "literals" and "weights", its
        "columns" and "counts", pairs of a code, with a bit for each of these columns
        whose literals fail, and a number of samples.
    """
    outputs, weights = _weighted_products(columns)
    if weights is None:
        return None
    places = {feature: k for k, feature in enumerate(owners)}
    intercepts, products = weights.pop((), np.zeros(len(outputs))), []
    for term, values in weights.items():
        tested = sorted({owners[feature] for feature, _ in term})
        # The script would count wrongly beyond 30 bits.
        if len(tested) > MOST_COLUMNS:
            return None
        # Bit k of a code: a literal of the k-th tested column fails.
        misses = np.zeros((len(bits), len(tested)), dtype=bool)
        for feature, value in term:
            misses[:, tested.index(owners[feature])] |= bits[:, feature] != value
        codes = misses @ 2 ** np.arange(len(tested))
        pairs = np.column_stack(np.unique(codes, return_counts=True)).astype(int)
        products.append(
            {
                "literals": [[places[feature], bool(value)] for feature, value in term],
                "weights": values.tolist(),
                "columns": tested,
                "counts": pairs.tolist(),
            }
        )
    intercepts = intercepts.tolist()
    return {"outputs": outputs, "intercepts": intercepts, "products": products}


def _weighted_products(columns):
    """Map the terms of a sum, to which rules are expanded, to their weights.

    Returns
    -------
    outputs : list of str
    weights : dict from tuples of (feature, value) to ndarrays of shape (n_outputs,)
        None: the rules overlap too much.
    """
    possible, formula = possible_bits(columns), columns.formula

    def joined(term, other=()):
        """Join two conditions; None if no value of a column satisfies both."""
        literals = tuple(sorted({*term, *other}))
        for column, tests in columns.literals_by_column(literals).items():
            bits = possible[column]
            if not np.all([bits[j] == value for j, value in tests], axis=0).any():
                return None
        return literals

    product = joined if isinstance(formula, FirstRule) else tuple
    return weighted_products(formula, product, joined, MOST_PRODUCTS)


def _add_changes(described, owners, columns, costs, immutable, directions):
    """Add to the columns of the form what the search may change them to."""
    states, costs, directions = legal_states(columns), costs or {}, directions or {}
    check_changes(
        columns.names, states, costs, immutable, directions, has_functions=False
    )
    for feature, form_column in owners.items():
        number = columns.owners[feature]
        label, legal = columns.names[number], states[number]
        freedom = "none" if label in immutable else directions.get(label, "free")
        described[form_column] |= {
            "cost": float(costs.get(label, 1.0)),
            "freedom": freedom,
            "has_order": legal.kind != "category",
            "states": list(range(len(legal.bits))),
        }
        if legal.kind in ("number", "ordered"):
            fitted = columns.encoded[number]
            described[form_column] |= {
                "states": fitted.representatives.tolist(),
                "edges": fitted.thresholds.tolist(),
            }
        if legal.kind == "ordered":
            described[form_column]["n_levels"] = len(fitted.levels)


def _sample_fields(user_columns, X, y, bits, used, max_samples):
    """Describe the columns of the form and the samples that are shown."""
    columns, features, values = _form_columns(user_columns, X, bits, used)
    write = python_value if user_columns.formula.classes is None else str
    index = X.index if hasattr(X, "iloc") else range(len(bits))
    return {
        "columns": columns,
        "features": features,
        "n_samples": len(bits),
        "samples": values[:max_samples],
        "sample_names": [str(name) for name in index[:max_samples]],
        "y": [*map(write, np.asarray(y)[:max_samples])],
    }


def _fill_page(data):
    """Put the data into the page; no text of it can end the script element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    # A text "</script>" in the data would end the script.
    text = text.replace("<", "\\u003c")
    page = files("sklboolean.inspection").joinpath("model_page.html").read_text("utf-8")
    before, after_title = page.split("@TITLE@")
    between, after = after_title.split("@DATA@")
    return before + escape(data["title"]) + between + text + after


def _edit_calls(model, formula):
    """Write what leaves out each term, for a method of the model; "" for none."""
    names = formula.columns.names
    texts = [repr(conjunction_text(term, names)) for term in formula.terms]
    if hasattr(model, "without"):
        return [f"without([{text}]" for text in texts]
    if hasattr(model, "with_points") and len(formula.weights) == 1:
        return [f"with_points({{{text}: 0}}" for text in texts]
    if not hasattr(model, "with_rules"):
        return [""] * len(texts)
    numbers = range(len(texts))
    return [f"with_rules({[j for j in numbers if j != k]}" for k in numbers]


def _edited_step(estimator):
    """Write what reads the last step of ``model``, and the samples that it sees."""
    model, samples = "model", "X"
    while True:
        if hasattr(estimator, "best_estimator_"):
            model, estimator = f"{model}.best_estimator_", estimator.best_estimator_
        if not isinstance(estimator, Pipeline):
            return model, samples
        if len(estimator) > 1:
            samples = f"{model}[:-1].transform({samples})"
        model, estimator = f"{model}[-1]", estimator[-1]


def _rows(estimator, columns, bits, y, names):
    """Describe each rule, or each weight of each output."""
    formula = _shown(columns.formula)
    satisfied, calls = formula.satisfied(bits), _edit_calls(columns.model, formula)
    n_before = 0 if formula is columns.formula else len(columns.formula.terms)
    model, data = _edited_step(estimator)
    texts = [" and ".join(names.words(term)) or "always" for term in formula.terms]
    coverage, rows = satisfied.sum(axis=0).tolist(), []
    for term, output, weight, label, hits in _row_values(formula, y):
        covered = satisfied[:, term]
        precision = float(np.mean(hits[covered])) if covered.any() else None
        rows.append(
            {
                "number": len(rows) + 1,
                "term": n_before + term,
                "output": output,
                "text": texts[term],
                "weight": weight,
                "label": label,
                "coverage": coverage[term],
                "precision": precision,
                "edit": calls[term] and f"{model}.{calls[term]}, {data}, y)",
            }
        )
    return rows


def _row_values(formula, y):
    """Yield term, output, weight, label and the samples that the row is right about."""
    if isinstance(formula, FirstRule):
        for term, label in enumerate(formula.labels):
            yield term, 0, None, str(label), y == label
        return
    weights = formula.scaled()[0]
    # One line for each weight that is not 0, the largest first.
    cells = np.argwhere(weights != 0)
    sizes = np.abs(weights[tuple(cells.T)])
    for output, term in cells[np.argsort(-sizes, kind="stable")].tolist():
        weight = float(weights[output, term])
        label, hits = _supported_class(formula, output, weight, y)
        yield term, output, weight, label, hits


def _supported_class(formula, output, weight, y):
    """Name the class whose score a weight raises, and mark its samples."""
    classes = formula.classes
    if classes is None:
        return "", np.asarray(y, dtype=float)
    if formula.games is not None:
        pair = [classes[code] for code in formula.games[output]]
        # A positive margin of a game is for its second class.
        pair = pair if weight < 0 else pair[::-1]
        return f"{pair[0]}, not {pair[1]}", y == pair[0]
    if len(formula.weights) == 1:
        label = classes[1 if weight > 0 else 0]
        return str(label), y == label
    label = classes[output]
    return str(label if weight > 0 else f"not {label}"), (y == label) == (weight > 0)


def _form_columns(user_columns, X, bits, used):
    """Describe the columns that are used, and their features as conditions."""
    columns, features, values, described, read = [], [], [], {}, None
    refuse_by_type(user_columns.encoded, "the form of the page has no input for")
    if user_columns.is_encoded:
        X = user_columns.table(X) if is_frame(X) else np.asarray(X)
        read = read_columns(user_columns.transformers, X, reset=False)
    for j in used:
        number = int(user_columns.owners[j])
        if number not in described:
            fitted, name = user_columns.encoded[number], user_columns.names[number]
            if fitted is None:  # the feature is the column
                by_feature = {j: ("=", 1)}
                columns.append(
                    {"name": name, "kind": "boolean", "can_be_missing": False}
                )
                values.append(bits[:, j].astype(int).tolist())
            else:
                places = np.flatnonzero(user_columns.owners == number)
                pairs = zip(places.tolist(), _conditions(fitted), strict=True)
                by_feature = dict(pairs)
                columns.append(_column(name, fitted, read[number]))
                values.append(_column_values(fitted, read[number], bits[:, places]))
            described[number] = len(columns) - 1, by_feature
        column, by_feature = described[number]
        relation, value = by_feature[j]
        features.append({"column": column, "relation": relation, "value": value})
    samples = [list(row) for row in zip(*values, strict=True)]
    return columns, features, samples or [[] for _ in range(len(bits))]


def _conditions(fitted):
    """List the relation and value of each feature of a column."""
    if fitted.kind == "category":
        return [("=", k) for k in range(fitted.n_conditions)]
    missing, thresholds = ("missing", None), fitted.thresholds.tolist()
    conditions = [(relation, t) for relation in fitted.relations for t in thresholds]
    conditions += [("=", code) for code in fitted.special]
    if fitted.kind == "ordered":  # by the numbers of the options
        n_levels = len(fitted.levels)
        # An ordered column is a list of options: a bound is a set of their numbers.
        missing = "=", n_levels
        conditions = [
            ("in", [*(range(t + 1) if relation == "<=" else range(t + 1, n_levels))])
            for relation, t in conditions
        ]
    return conditions + [missing] * fitted.indicates_missing


def _column(name, fitted, read):
    """Describe a column for the form."""
    column = {"name": str(name), "kind": fitted.kind, "can_be_missing": False}
    if fitted.kind in ("category", "ordered"):
        # The last option stands for levels that were not in the training data.
        options = [*map(level_text, fitted.levels)]
        if fitted.kind == "ordered":
            options = level_names(fitted.levels)
        options += ["(rare)"] * bool(getattr(fitted, "rare", ()))
        options += ["(missing)"] * fitted.indicates_missing
        return column | {"kind": "category", "options": [*options, "(another level)"]}
    column["can_be_missing"] = bool(fitted.indicates_missing)
    if fitted.kind == "number":
        numbers = np.empty(0) if read.numbers is None else read.numbers
        not_missing = numbers[~np.isnan(numbers)].tolist()
        # The slider covers all thresholds and all numbers of X.
        edges = [*fitted.thresholds.tolist(), *not_missing]
        column |= {"low": min(edges, default=0.0), "high": max(edges, default=1.0)}
        column["special"] = [*fitted.special, *fitted.unseen_special]
    return column


def _column_values(fitted, read, bits):
    """List the value of each sample for the form; None where it is missing."""
    if fitted.kind == "category":
        return np.where(bits.any(axis=1), bits.argmax(axis=1), bits.shape[1]).tolist()
    # Of an ordered column the number of the option; the last is for unseen levels.
    if fitted.kind == "ordered":
        n_levels = len(fitted.levels)
        places = {level: k for k, level in enumerate(fitted.levels)}
        read, last = read.as_category(), n_levels + fitted.indicates_missing
        options = [*(places.get(level, last) for level in read.levels), n_levels]
        return [options[code] for code in read.codes.tolist()]
    if read.numbers is None:
        return [None] * len(bits)
    if fitted.kind == "boolean":
        gaps = read.missing().tolist()
        return [None if g else int(b) for g, b in zip(gaps, bits[:, 0], strict=True)]
    return [None if np.isnan(value) else value for value in read.numbers.tolist()]
