"""Methods that write fitted models: text, Python, SQL, C, dictionaries and frames."""

from importlib import import_module

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.c_code import c_code
from sklboolean._core.feature_names import FeatureNames
from sklboolean._core.formula import FirstRule, Members
from sklboolean._core.formulas import conjunction_text, python_label
from sklboolean._core.python_code import python_code
from sklboolean._core.sql_code import sql_code

# Version of the dictionaries. Increase it when an older reader would misread them.
# Since version 2 all models of conjunctions have one format.
VERSION = 2
OUTPUTS = ("label", "proba", "score", "all")


class ExportMixin:
    """Exports of a class that describes itself by ``_formula()``."""

    def _written_formula(self, output="all"):
        """Return the formula of a fitted model; a model without one is an error.

        For "label" it is the shortest that gives the labels.
        """
        if isinstance(self, BaseEstimator):
            check_is_fitted(self)
        formula = self._formula()
        if formula is None or isinstance(formula, Members):
            raise ValueError(
                f"This {type(self).__name__} is not made of conjunctions, so it cannot "
                "be written. A booster can if it boosts stumps, its default, and a "
                "ConsistentHalfspace with solver='linprog'. For others "
                "sklboolean.inspection.distill fits a formula that predicts nearly "
                "the same."
            )
        # Some lists of rules have more rules than their labels need.
        is_label = isinstance(output, str) and output == "label"
        return (is_label and getattr(formula, "of_labels", None)) or formula

    def to_text(self, feature_names=None) -> str:
        """Write the model as text: its rules, or weights and conjunctions.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature. None: the column names of X, or x0, x1, ...

        Returns
        -------
        text : str
            A line for each rule, or for each weight, the largest absolute one first.
            Two or more single conditions on a column come before: levels, and in the
            place of bounds the intervals between them, with the sums of the weights.

        Raises
        ------
        ValueError
            When a feature has no name, or the model is not made of conjunctions.
        """
        formula = self._written_formula("label")
        names = formula.columns.names if feature_names is None else feature_names
        if isinstance(formula, FirstRule):
            texts = [rules_text(formula, names)]
        else:
            outputs = range(len(formula.weights))
            texts = [weights_text(formula, k, names) for k in outputs]
        return "\n".join([*texts, *formula.columns.directions])

    def to_python(self, feature_names=None, *, output="label") -> str:
        """Write the model as a Python expression of a sample ``x``.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            Keys of the values, for samples that are dicts: ``x['a']``. None: by column
            number, ``x[0]``.
        output : {"label", "proba", "score", "all"}, default="label"
            Value of the expression. "label": what ``predict`` returns. "proba": a
            dictionary of the probability of each class, with the calibration. "score":
            what ``decision_function`` returns, of more than two classes a dictionary.
            "all": a dictionary of the three.

        Returns
        -------
        code : str
            An expression that needs no import. A value of None is an error.

        Raises
        ------
        ValueError
            When a feature has no name, or two have the same, when the model is not made
            of conjunctions, or has no such output.
        """
        formula = self._written_formula(output)
        check_outputs(formula, output)
        return python_code(formula, feature_names, output)

    def to_sql(
        self, feature_names=None, *, output="label", encoder=None, dialect=None
    ) -> str:
        """Write the model in SQL, for a query ``SELECT ... FROM table AS f``.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            The columns of the table in the database: a name for each feature, or with
            ``encoder`` for each column that it reads. None: the column names of X, or
            x0, x1, ...
        output : {"label", "proba", "score", "all"}, default="label"
            "label": an expression whose value ``predict`` returns. The others are
            columns with names, for a SELECT. "proba": ``proba_`` and the label, the
            probability of each class, with the calibration. "score": ``score``, or with
            more than two classes ``score_`` and the label. "all": ``prediction``, the
            scores and the probabilities. Labels that a database takes for one name are
            replaced by their numbers in ``classes_``.
        encoder : transformer or None, default=None
            The fitted `BooleanEncoder` before the model, or a ``ColumnTransformer`` of
            encoders and of columns that it passes. The conditions that the model needs
            are written on the columns of the table. None: the table has the features.
        dialect : str or None, default=None
            "duckdb", "postgresql", "sqlite", "bigquery", "mysql" or "spark". None: what
            the first three have in common. Set it for other quotes and types, and where
            the names or kinds of columns differ between databases.

        Returns
        -------
        sql : str
            The table must be called f in the query. Bools are written 1 and 0. NULL is
            a missing value of an encoder. Without one no literal holds for NULL, and a
            weight times NULL is 0; a column that is multiplied by a weight must hold
            numbers. Boosters whose classes play against each other need the function
            SQRT, probabilities of sums EXP.

        Raises
        ------
        ValueError
            When a feature has no name, two have the same for the database, a name,
            level or label cannot be quoted, when ``encoder`` is not the one of the
            model, when the model is not made of conjunctions, or has no such output.
        """
        formula = self._written_formula(output)
        check_outputs(formula, output)
        return sql_code(formula, feature_names, output, encoder, dialect)

    def to_c(self, prefix="") -> str:
        """Write the model as functions in C99 of bits.

        Parameters
        ----------
        prefix : str, default=""
            Begins the names of the functions, for several models in one program.

        Returns
        -------
        code : str
            ``double score(const unsigned char *x)`` for two classes and regressors,
            ``void scores(x, double *out)`` for all; ``int predict(x)``, a number in the
            array ``labels``, and ``void proba(x, double *out)`` where the model has
            probabilities. Each entry of ``x`` is a feature; 0 is false. The functions
            need no library but the ``exp`` and ``sqrt`` of C.

        Raises
        ------
        ValueError
            When the model is not made of conjunctions, or the prefix is not a name.
        """
        return c_code(self._written_formula(), prefix)

    def to_dict(self) -> dict:
        """Write the model as a dictionary of JSON types, to be read by other programs.

        A sample satisfies a term if each of its features has the value that the term
        lists. To store a model for Python, use joblib or skops.

        Returns
        -------
        data : dict
            "type" is the class, "version" that of the format, "form" is "rules" or
            "sum". "n_features", "feature_names" (a list or None) and "binarize" (the
            threshold above which a number is true, or None for zeros and ones) describe
            X. "terms" is a list of lists of pairs of a feature and its value.
            "classes" are the labels, None for a regressor.

            "rules": the first satisfied term decides. "labels" has the label of each
            term, "default" that of samples that satisfy none, and "probabilities" the
            probability of each class for each term and the default, or None.

            "sum": each output is its entry of "intercepts" and the sum of its entries
            of "weights", of shape (n_outputs, n_terms), of the satisfied terms. Votes
            are divided by their numbers, "divisors". With two classes the second is
            predicted where the output is above 0, and at 0 the class number "tie". With
            "games", pairs of classes, each output is the margin of the second against
            the first. If "has_probabilities", they are the sigmoid or softmax of
            "slope" times the scores.

        Raises
        ------
        ValueError
            For labels that are neither text nor finite numbers, or when the model is
            not made of conjunctions.
        """
        formula = self._written_formula()
        return versioned(type(self).__name__, formula_fields(formula))

    def to_frame(self):
        """Make a data frame with a row for each rule or weight.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns label, rule, n_literals and weight, which is missing where
            the first rule decides.

        Raises
        ------
        ImportError
            When pandas is not installed.
        ValueError
            When the model is not made of conjunctions.
        """
        formula = self._written_formula()
        if isinstance(formula, FirstRule):
            # Rules have no weights: the first one decides.
            pairs = zip(formula.labels, formula.terms, strict=True)
            rows = [(label, term, None) for label, term in pairs]
        else:
            rows = [
                (name, term, weight)
                for k, name in enumerate(formula.output_names())
                for term, weight in largest_first(formula, k)
            ]
        names = formula.columns.names
        return import_pandas().DataFrame(
            {
                "label": [label for label, _, _ in rows],
                "rule": [conjunction_text(term, names) for _, term, _ in rows],
                "n_literals": [len(term) for _, term, _ in rows],
                "weight": [weight for _, _, weight in rows],
            }
        )


def check_outputs(formula, output):
    """Raise a ValueError unless the formula has what is to be written."""
    if not isinstance(output, str) or output not in OUTPUTS:
        raise ValueError(f"output must be one of {list(OUTPUTS)}; got {output!r}.")
    if output in ("proba", "all") and not has_probabilities(formula):
        raise ValueError(
            f"output={output!r}: the model has no probabilities. Set output='label' or "
            "output='score'."
        )
    if output in ("score", "all") and isinstance(formula, FirstRule):
        if formula.scores is None:
            raise ValueError(
                f"output={output!r}: the score of this model is not decided by its "
                "rules. Set output='label' or output='proba'."
            )


def has_probabilities(formula):
    """Whether the probabilities of a formula can be written."""
    if isinstance(formula, FirstRule):
        return formula.probabilities is not None
    return formula.classes is not None and formula.has_probabilities


def import_optional(module, user, package):
    """Import a module of another package, or say how to install what the user needs."""
    try:
        return import_module(module)
    except ImportError as error:
        needed = module.partition(".")[0]
        raise ImportError(f"{user} needs {needed}: pip install {package}.") from error


def import_pandas():
    """Import pandas, which only data frames need."""
    return import_optional("pandas", "to_frame", "pandas")


def largest_first(formula, output):
    """List the terms of a sum and their weights, the largest absolute one first."""
    weights = formula.scaled()[0][output]
    pairs = [(formula.terms[k], float(weights[k])) for k in np.flatnonzero(weights)]
    return sorted(pairs, key=lambda pair: -abs(pair[1]))


def rules_text(formula, names):
    """Write rules as text, one on each line."""
    lines = [
        f"{label} if {conjunction_text(term, names)}"
        for label, term in zip(formula.labels, formula.terms, strict=True)
    ]
    return "\n".join([*lines, f"{'else ' if lines else ''}{formula.default}"])


def weights_text(formula, output, names):
    """Write one sum as a scorecard: a weight and a conjunction on each line.

    Conditions of one column come first, its bounds as intervals, but for points, which
    are those of the conditions.
    """
    pairs, steps = largest_first(formula, output), []
    text_by_term = {term: conjunction_text(term, names) for term, _ in pairs}
    if names is not None and not formula.has_points:
        steps, pairs = FeatureNames(names).steps(pairs)
    lines = steps + [(text_by_term[term], weight) for term, weight in pairs]
    intercept = formula.scaled()[1][output]
    title = formula.output_names()[output]
    texts, weights = zip(*lines, strict=True) if lines else ((), ())
    return scorecard(title, intercept, weights, texts)


def scorecard(title, intercept, weights, texts):
    """Write a title, and below it each weight before its text."""
    # The intercept has a line without text.
    numbers = [f"{weight:+.4g}" for weight in [intercept, *weights]]
    width = max(map(len, numbers)) + 1
    lines = [
        f"{number:>{width}}  {text}".rstrip()
        for number, text in zip(numbers, ["", *texts], strict=True)
    ]
    return "\n".join([f"{title}:", *lines])


def versioned(kind, fields):
    """Put the class and the version before the fields of an exported object."""
    return {"type": kind, "version": VERSION, **fields}


def formula_fields(formula):
    """Write a formula as fields of JSON types."""
    columns, labels, is_rules = formula.columns, None, isinstance(formula, FirstRule)
    if formula.classes is not None:
        labels = [python_label(label) for label in formula.classes]
    fields = {
        "form": "rules" if is_rules else "sum",
        "n_features": int(columns.n_features),
        "feature_names": columns.names,
        "binarize": columns.binarize,
        "terms": [[[int(j), bool(v)] for j, v in term] for term in formula.terms],
    }
    if is_rules:
        return fields | {
            "labels": [python_label(label) for label in formula.labels],
            "default": python_label(formula.default),
            "classes": labels,
            "probabilities": as_list(formula.probabilities),
        }
    return fields | {
        "weights": formula.weights.tolist(),
        "intercepts": formula.intercepts.tolist(),
        "classes": labels,
        "has_probabilities": formula.has_probabilities,
        "slope": float(formula.slope),
        "tie": formula.tie,
        "divisors": as_list(formula.divisors),
        "games": None if formula.games is None else [list(g) for g in formula.games],
    }


def as_list(array):
    """Convert an array to lists; None stays."""
    return None if array is None else array.tolist()
