"""DNFs as lists of literals: as code, as text, implied, shortened."""

from html import escape

import numpy as np

from sklboolean._core.validation import KEPT_DTYPES, as_boolean, check_array_strict


def plain(value):
    """Return a label as Python has it: its repr is code."""
    return value.item() if hasattr(value, "item") else value


def read_rows(X, n_features, binarize):
    """Check the rows that rules are to judge, and make them Boolean."""
    X = check_array_strict(X, accept_sparse=["csr", "csc"], dtype=KEPT_DTYPES, name="X")
    if X.shape[1] != n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, but the rules were made for {n_features}."
        )
    return as_boolean(X, binarize)


def check_names(feature_names, feature):
    """Demand that a feature has a name."""
    n_names = len(feature_names) if np.ndim(feature_names) == 1 else 0
    if feature >= n_names:
        raise ValueError(
            f"feature_names has {n_names} names, but the rule uses feature {feature}: "
            "give a list with one name for each feature."
        )


def conjunction_code(literals, names, binarize):
    """Write a conjunction as a Python expression of a row x."""
    words = []
    for feature, value in literals:
        if names is not None:
            check_names(names, feature)
        item = f"x[{(feature if names is None else str(names[feature]))!r}]"
        if binarize is not None:
            words.append(f"{item} {'>' if value else '<='} {float(binarize)!r}")
        else:
            words.append(item if value else f"not {item}")
    return " and ".join(words) or "True"


def html_table(caption, head, rows):
    """Return a table for notebooks."""

    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(cells, "td") for cells in rows)
    return (
        f"<table><caption>{escape(caption)}</caption><thead>{line(head, 'th')}</thead>"
        f"<tbody>{body}</tbody></table>"
    )


def implies(values, conjunctions):
    """Return whether a DNF is true wherever some features have given values.

    Parameters
    ----------
    values : dict of feature to bool
    conjunctions : sequence of tuples of (feature, value) pairs
    """
    open_ = []
    for literals in conjunctions:
        rest = [(j, v) for j, v in literals if values.get(j) != v]
        if not rest:
            return True
        if not any(j in values for j, _ in rest):
            open_.append(rest)
    if not open_:
        return False
    feature, value = open_[0][0]
    # Where all literals of a feature agree, the other value is the harder one.
    both = any((feature, not value) in rest for rest in open_)
    return all(
        implies({**values, feature: choice}, open_)
        for choice in ([not value, value] if both else [not value])
    )


def shorten(conjunctions, is_as_good):
    """Drop literals, then conjunctions, as long as what is left is as good.

    Parameters
    ----------
    conjunctions : list of tuples of (feature, value) pairs
    is_as_good : callable
        Takes such a list.

    Returns
    -------
    conjunctions : list of tuples
        None where one was dropped.
    """
    kept = list(conjunctions)

    def attempt(place, shorter):
        trial = [*kept[:place], shorter, *kept[place + 1 :]]
        if is_as_good([literals for literals in trial if literals is not None]):
            kept[place] = shorter

    for place, literals in enumerate(conjunctions):
        for literal in literals:
            attempt(place, tuple(one for one in kept[place] if one != literal))
    # The last are those that were chosen for the fewest rows.
    for place in reversed(range(len(kept))):
        attempt(place, None)
    return kept
