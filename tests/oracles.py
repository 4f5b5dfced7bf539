"""Slow twins of the package's formulas, each the definition spelled out."""

from itertools import combinations, product


def literals_of(row):
    """All literals that hold in a row, as (feature, value)."""
    return set(enumerate(map(bool, row)))


def conjunctions(n_features, min_literals, max_literals, monotone):
    """Every conjunction without contradiction, as a tuple of literals."""
    last = n_features if max_literals is None else min(max_literals, n_features)
    for length in range(min_literals, last + 1):
        for variables in combinations(range(n_features), length):
            for values in product([True] if monotone else [False, True], repeat=length):
                yield tuple(zip(variables, values, strict=True))


def conjunction_holds(term, row):
    """Whether every literal of a conjunction holds."""
    return all(bool(row[variable]) == value for variable, value in term)


def disjunction_holds(clause, row):
    """Whether some literal of a disjunction holds."""
    return any(bool(row[variable]) == value for variable, value in clause)


def shared_conjunctions(x, z, min_literals=0, max_literals=None, monotone=False):
    """The conjunctions that hold in both rows, longest bound first by length."""
    return [
        term
        for term in conjunctions(len(x), min_literals, max_literals, monotone)
        if conjunction_holds(term, x) and conjunction_holds(term, z)
    ]


def count_disjunctions(x, z, n_literals, monotone):
    """Disjunctions of so many distinct variables that hold in both rows."""
    clauses = conjunctions(len(x), n_literals, n_literals, monotone)
    return sum(disjunction_holds(c, x) and disjunction_holds(c, z) for c in clauses)


def count_dnfs(x, z, n_terms, n_literals, monotone):
    """Sets of conjunctions, some member of which holds in x and some in z."""
    terms = list(conjunctions(len(x), n_literals, n_literals, monotone))
    return sum(
        any(conjunction_holds(t, x) for t in dnf)
        and any(conjunction_holds(t, z) for t in dnf)
        for dnf in combinations(terms, n_terms)
    )


def count_cnfs(x, z, n_clauses, n_literals, monotone):
    """Sets of disjunctions, all members of which hold in x and in z."""
    clauses = list(conjunctions(len(x), n_literals, n_literals, monotone))
    return sum(
        all(disjunction_holds(c, row) for c in cnf for row in (x, z))
        for cnf in combinations(clauses, n_clauses)
    )
