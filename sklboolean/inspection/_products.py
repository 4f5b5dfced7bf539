"""A formula as a sum of products: each factor allows some patterns of one column."""

import numpy as np

from sklboolean._core.formula import FirstRule
from sklboolean.inspection._pattern_games import distinct_rows

# A mask is a Python integer: bit p is set if pattern p of a column passes a test. The
# product of two tests of one column is the "and" of their masks, so that conditions of
# different terms on one column are merged, and tests that all or no pattern passes are
# recognised. `weighted_products` serves these products and those of `_model_page`.

MOST_PRODUCTS = 20_000
MOST_KEPT = 256  # results of tests


class Products:
    """A sum of weighted products over the columns of samples.

    Of a column only the distinct patterns of its features matter that the samples have,
    so a test of a column is the set of patterns that pass it, an integer with a bit for
    each. Products that allow the same are one, and a test that all pass is left out.

    Parameters
    ----------
    columns : UserColumns
    bits : ndarray of shape (n_samples, n_features), bool
        All samples that the sum will be evaluated for.

    Attributes
    ----------
    outputs : list of str
        What the sums are.
    weights : dict from tuple of (column, set of patterns) to ndarray (n_outputs,)
        The empty product has the constant.
    """

    def __init__(self, columns, bits):
        terms = columns.formula.terms
        used = sorted({feature for term in terms for feature, _ in term})
        self._columns, self._masks, self._tests = columns, {}, {}
        self._places, self._codes, self._patterns = {}, {}, {}
        for column in np.unique(columns.owners[used]).tolist():
            features = [j for j in used if columns.owners[j] == column]
            self._places[column] = {j: k for k, j in enumerate(features)}
            codes, patterns = distinct_rows(bits[:, features])
            self._codes[column], self._patterns[column] = codes, patterns
        self.outputs, self.weights = weighted_products(
            columns.formula, self._product, self._both, MOST_PRODUCTS
        )
        if self.weights is None:
            raise ValueError(
                f"The {len(terms)} rules overlap so much that their exact values need "
                f"more than {MOST_PRODUCTS} products. Fit a model with fewer rules or "
                "fewer literals."
            )

    def _product(self, term):
        """Write a term as a product; None if no pattern of a column allows it."""
        factors = []
        for column, literals in self._columns.literals_by_column(term).items():
            key = column, *literals
            if key not in self._masks:
                patterns, places = self._patterns[column], self._places[column]
                allowed = np.ones(len(patterns), dtype=bool)
                for feature, value in literals:
                    allowed &= patterns[:, places[feature]] == value
                packed = np.packbits(allowed, bitorder="little").tobytes()
                self._masks[key] = int.from_bytes(packed, "little")
            factors.append((column, self._masks[key]))
        return self._shortest(factors)

    def _both(self, product, other):
        """Multiply two products."""
        factors = dict(product)
        for column, mask in other:
            factors[column] = factors.get(column, -1) & mask
        return self._shortest(sorted(factors.items()))

    def _shortest(self, factors):
        """Leave out tests that all patterns pass; None if none passes a test."""
        if not all(mask for _, mask in factors):
            return None
        return tuple(
            (column, mask)
            for column, mask in factors
            if mask.bit_count() < len(self._patterns[column])
        )

    def misses(self, column, mask):
        """Mark the samples that fail the test of a column."""
        if (column, mask) not in self._tests:
            if len(self._tests) >= MOST_KEPT:
                self._tests.clear()
            n_patterns = len(self._patterns[column])
            packed = mask.to_bytes(n_patterns // 8 + 1, "little")
            allowed = np.unpackbits(
                np.frombuffer(packed, np.uint8), count=n_patterns, bitorder="little"
            )
            self._tests[column, mask] = (allowed == 0)[self._codes[column]]
        return self._tests[column, mask]


def weighted_products(formula, product, both, most):
    """Map products to their weights, which add up to a sum or to a list of rules.

    Parameters
    ----------
    formula : WeightedSum or FirstRule
    product : callable
        Writes a term as a product; None if no sample can satisfy it.
    both, most
        As for `expanded`.

    Returns
    -------
    outputs : list of str
    weights : dict from products to ndarrays of shape (n_outputs,), or None
        As of `expanded`; the product () is the constant.
    """
    products = list(map(product, formula.terms))
    if isinstance(formula, FirstRule):
        outputs, outcomes = outcomes_of(formula)
        return outputs, expanded(products, outcomes, both, most)
    all_weights, intercepts = formula.scaled()
    weights = {(): intercepts}
    for factors, weight in zip(products, all_weights.T, strict=True):
        if factors is not None:
            weights[factors] = weights.get(factors, 0.0) + weight
    return formula.output_names(), weights


def expanded(conditions, outcomes, both, most):
    """Expand a list of rules from its end: where a rule holds, it replaces the sum.

    The sum F of the rules below a rule of condition T and outcome s becomes
    ``F + T (s - F)``.

    Parameters
    ----------
    conditions : list of n_rules tuples, or None where a condition never holds
    outcomes : ndarray of shape (n_rules + 1, n_outputs)
    both : callable
        Of two conditions, the one that both hold; None if they never do.
    most : int
        Maximum number of products.

    Returns
    -------
    weights : dict from tuple to ndarray of shape (n_outputs,), or None
        None if there are more products.
    """
    weights = {(): outcomes[-1]}
    for condition, outcome in zip(conditions[::-1], outcomes[-2::-1], strict=True):
        if condition is None:
            continue
        # F + T s - T F: the products of F are copied with the condition and a minus.
        below = list(weights.items())
        weights[condition] = weights.get(condition, 0.0) + outcome
        for product, weight in below:
            if (joint := both(condition, product)) is not None:
                weights[joint] = weights.get(joint, 0.0) - weight
        weights = {
            product: w for product, w in weights.items() if not product or w.any()
        }
        # Few rules overlap in practice; the number of products can double with each.
        if len(weights) > most:
            return None
    return weights


def outcomes_of(formula):
    """Name the outputs of a list of rules, and list those of each rule and the default.

    Returns
    -------
    outputs : list of str
    outcomes : ndarray of shape (n_rules + 1, n_outputs)
    """
    classes, scores = formula.classes, formula.scores
    # Scores, where the rules decide them; else probabilities, or the label.
    if scores is not None and np.ndim(scores) == 1:
        return [f"log-odds of {classes[1]}"], scores[:, None]
    if scores is not None:
        return [f"score of {label}" for label in classes], scores
    if formula.probabilities is None:
        is_second = [[label == classes[1]] for label in [*formula.labels, classes[0]]]
        return [f"prediction of {classes[1]}"], np.array(is_second, dtype=np.float64)
    shown = slice(1, None) if len(classes) == 2 else slice(None)
    outputs = [f"probability of {label}" for label in classes[shown]]
    return outputs, formula.probabilities[:, shown]
