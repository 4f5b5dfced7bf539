"""Queries in words: formulas of named conditions, and the disjoint terms they have.

A condition sets one column: it is a literal. A formula of literals is decided column by
column (Boole's expansion, which Shannon's theorem is named after): the branches in
which it is true are disjoint terms, so its probability is the sum of theirs. Each of
these is a marginal of the density. No term is subtracted from another.
"""

# A query in steps:
# 1. `split_tokens` splits the text, `Parser` reads it by recursive descent: a formula
#    of `Literal` and `Junction`. Python's own parser would not do: names have spaces
#    and signs, and messages say what was expected at which character.
# 2. `disjoint_terms` expands the formula column by column. The terms exclude each
#    other.
# 3. A term is a sample with missing bits. The density sums these out for all terms at
#    once.
# 4. The probability is the share of the terms in which the event is true.

import re
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.feature_names import NUMBER
from sklboolean._core.formulas import feature_names_of
from sklboolean._core.parameters import check_integer, check_real
from sklboolean._core.partitions import load_partition, open_partitions, prefix_errors

MAX_TERMS = 4096  # branches of a query
MAX_DEPTH = 50  # of nested parentheses
MAX_LISTED = 10  # names in a message
ADVICE = (
    "Put quotes around a name or a level that has brackets, commas, or one of the "
    "words 'and', 'or', 'not' and 'in'."
)
NUMERAL = re.compile(rf"(?!0\d){NUMBER}", re.IGNORECASE)  # 01234 is a code
TRUTHS = {"true": True, Decimal(1): True, "false": False, Decimal(0): False}
OPPOSITES = {"=": "!=", "!=": "=", "<=": ">", ">": "<=", "<": ">=", ">=": "<"}
BRACKETS = {"(": ")", "[": "]", "{": "}"}
MISSING = " is missing"  # ends the name of the column of missing values
KEYWORDS = ("and", "or", "not", "in")
OPERATOR = re.compile(r"<=|>=|!=|==|=|<|>")
TOKEN = re.compile(
    r"""\s*(?:
    (?P<quoted>"(?:[^"\\]|\\.)*"(?![^\s()\[\]{},<>=!])
              |'(?:[^'\\]|\\.)*'(?![^\s()\[\]{},<>=!]))
    |(?P<operator><=|>=|!=|==|=|<|>)
    |(?P<bracket>[()\[\]{},])
    |(?P<word>(?:(?!!=)[^\s()\[\]{},<>=])+)
    )""",
    re.VERBOSE | re.DOTALL,
)


class Literal(NamedTuple):
    """A column and the value that it must have."""

    column: int
    value: bool


class Junction(NamedTuple):
    """A disjunction of formulas, or a conjunction."""

    is_or: bool
    parts: tuple


def negate(formula):
    """Negate a formula by De Morgan's laws."""
    if isinstance(formula, Literal):
        return Literal(formula.column, not formula.value)
    return Junction(not formula.is_or, tuple(map(negate, formula.parts)))


def assign(formula, literal):
    """Set a column in a formula; the result is a bool where that decides it."""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, Literal):
        same = formula.column == literal.column
        return formula.value == literal.value if same else formula
    open_parts = []
    for assigned in formula.parts:
        assigned = assign(assigned, literal)
        if assigned is formula.is_or:  # a true part of "or", or a false one of "and"
            return assigned
        if not isinstance(assigned, bool):
            open_parts.append(assigned)
    if not open_parts:  # all are decided the other way
        return not formula.is_or
    return Junction(formula.is_or, tuple(open_parts))


def first_column(formula):
    """Return the column of the first literal."""
    while isinstance(formula, Junction):
        formula = formula.parts[0]
    return formula.column


def disjoint_terms(event, condition=True):
    """Split a condition into disjoint terms that decide an event.

    Parameters
    ----------
    event, condition : Literal, Junction or bool

    Returns
    -------
    terms : list of dict
        The value of each column that occurs. Any two of them contradict each other,
        and one of them holds wherever the condition is true, but nowhere else.
    truths : list of bool
        Whether the event is true there.

    Raises
    ------
    ValueError
        If there are more than ``MAX_TERMS`` branches.
    """
    terms, truths, n_branches = [], [], 1
    branches = [({}, condition, event)]
    while branches:
        term, condition, event = branches.pop()
        if condition is False:
            continue
        if condition is True and isinstance(event, bool):
            terms.append(term)
            truths.append(event)
            continue
        n_branches += 1
        if n_branches > MAX_TERMS:
            raise ValueError(
                f"The query needs more than {MAX_TERMS} terms: its conditions combine "
                "too many columns. Ask for fewer alternatives at a time."
            )
        column = first_column(event if condition is True else condition)
        for literal in (Literal(column, False), Literal(column, True)):
            decided = {**term, column: literal.value}
            branches.append(
                (decided, assign(condition, literal), assign(event, literal))
            )
    return terms, truths


# Names of columns


def single_spaced(text):
    """Write one space where there are several, and none at the ends."""
    return " ".join(text.split())


def plain(text):
    """Convert a level or a threshold to what is compared: 40 equals 40.0."""
    text = single_spaced(text)
    return Decimal(text) if NUMERAL.fullmatch(text) else text


def near_values(value, values):
    """Sort numbers by distance; find texts that are similar, all if none is."""
    try:
        return sorted(values, key=lambda each: abs(float(each) - float(value)))
    except ValueError:
        return get_close_matches(value, values, 3) or list(values)


class Vocabulary:
    """The conditions that columns stand for.

    A name such as ``city = Rome`` or ``age <= 40`` is a condition on an attribute. All
    other columns are conditions that are true or false by themselves.
    """

    def __init__(self, names):
        self.names = names
        self.columns = {name: column for column, name in enumerate(names)}
        self.conditions = {}  # columns by attribute, operator and value
        for column, name in enumerate(names):
            for sign in OPERATOR.finditer(name):
                attribute = single_spaced(name[: sign.start()])
                value = plain(name[sign.end() :])
                key = attribute, sign[0].replace("==", "="), value
                self.conditions.setdefault(key, []).append(column)
        self.attributes = {key[0] for key in self.conditions} | set(names)
        ends = [name for name in names if name.endswith(MISSING)]
        self.missing = {
            single_spaced(name.removesuffix(MISSING)): self.columns[name]
            for name in ends
        }

    def formula(self, attribute, operator, value):
        """Find the column that stands for a condition, or for its opposite.

        A missing value satisfies neither of two opposite bounds.
        """
        shown = f"{attribute} {operator} {value}"
        operator, value = operator.replace("==", "="), plain(value)
        attribute = single_spaced(attribute)
        for sign, truth in ((operator, True), (OPPOSITES[operator], False)):
            columns = self.conditions.get((attribute, sign, value), [])
            if len(columns) > 1:
                both = " and ".join(repr(self.names[column]) for column in columns)
                raise ValueError(
                    f"The condition {shown!r} fits the columns {both}. Write the whole "
                    "name of one of them, in quotes."
                )
            if columns:
                literal = Literal(columns[0], truth)
                return literal if sign == "=" else self._if_known(attribute, literal)
        truth = TRUTHS.get(value if isinstance(value, Decimal) else value.lower())
        if attribute in self.columns and truth is not None and operator in ("=", "!="):
            literal = Literal(self.columns[attribute], truth)
            equal = self._if_known(attribute, literal)
            return equal if operator == "=" else negate(equal)
        raise ValueError(self._unknown_value(attribute, operator, value, shown))

    def _if_known(self, attribute, literal):
        """Add that the attribute is not missing, which a true column says already."""
        if literal.value or attribute not in self.missing:
            return literal
        return Junction(False, (literal, Literal(self.missing[attribute], False)))

    def _unknown_value(self, attribute, operator, value, shown):
        if attribute not in self.attributes:
            return self.unknown_name(attribute)
        signs = operator, OPPOSITES[operator]
        names = {
            str(compared): self.names[columns[0]]
            for (name, sign, compared), columns in self.conditions.items()
            if name == attribute and sign in signs
        }
        near = [names[name] for name in near_values(str(value), names)]
        alternatives = near or self._names_of(attribute)
        return (
            f"No column of X tells whether {shown!r}. Columns that can be asked for "
            f"instead are {self._list(alternatives)}. {ADVICE}"
        )

    def _names_of(self, attribute):
        names = [
            self.names[column]
            for key, places in self.conditions.items()
            if key[0] == attribute
            for column in places
        ]
        return names or [attribute]

    def unknown_name(self, name):
        """Write a message with the names that are near."""
        if name in self.attributes:
            return (
                f"The query has {name!r} without a value. The columns on it are "
                f"{self._list(self._names_of(name))}."
            )
        all_names = [*self.names, *sorted(self.attributes - set(self.names))]
        near = get_close_matches(name, all_names, 3)
        alternatives = f"near names are {self._list(near)}"
        if not near:
            alternatives = f"the names are {self._list(all_names)}"
        return (
            f"The query has {name!r}, which is not a column of X: {alternatives}. "
            f"{ADVICE}"
        )

    @staticmethod
    def _list(names):
        more = (
            "" if len(names) <= MAX_LISTED else f" and {len(names) - MAX_LISTED} more"
        )
        return ", ".join(map(repr, names[:MAX_LISTED])) + more


@lru_cache(maxsize=4)
def vocabulary_of(names):
    """Build the vocabulary of some names once for many queries."""
    return Vocabulary(names)


# Text to formula


class Token(NamedTuple):
    """A piece of a query."""

    kind: str  # quoted, operator, bracket, word, keyword or end
    text: str  # without quotes
    start: int
    end: int


def split_tokens(text):
    """Split a query into tokens, the last of which is its end."""
    tokens, position, stop = [], 0, len(text.rstrip())
    while position < stop:
        match = TOKEN.match(text, position)
        kind = match.lastgroup
        piece = match[kind]
        if kind == "quoted":
            piece = re.sub(r"\\(.)", r"\1", piece[1:-1])
        elif kind == "word" and piece.lower() in KEYWORDS:
            kind, piece = "keyword", piece.lower()
        tokens.append(Token(kind, piece, match.start(match.lastgroup), match.end()))
        position = match.end()
    return [*tokens, Token("end", "the end", stop, stop)]


class Parser:
    """Reads one query: or before and before not, as in Python."""

    def __init__(self, text, vocabulary):
        self.text, self.vocabulary = text, vocabulary
        self.tokens, self.place, self.depth = split_tokens(text), 0, 0

    def parse(self):
        """Read the whole text."""
        formula = self._junction(True)
        if self._next().kind != "end":
            self._refuse("and, or, or the end")
        return formula

    def _next(self):
        return self.tokens[self.place]

    def _take(self, kind, *texts):
        """Go past the next token if it is of that kind, and return whether it was."""
        token = self._next()
        if token.kind != kind or token.text not in texts:
            return False
        self.place += 1
        return True

    def _refuse(self, expected):
        token = self._next()
        raise ValueError(
            f"The query {self.text!r} has {token.text!r} at character "
            f"{token.start + 1}, where {expected} is expected. {ADVICE}"
        )

    def _junction(self, is_or):
        read = partial(self._junction, False) if is_or else self._negation
        formulas = [read()]
        while self._take("keyword", "or" if is_or else "and"):
            formulas.append(read())
        return Junction(is_or, tuple(formulas)) if len(formulas) > 1 else formulas[0]

    def _negation(self):
        negated = False
        while self._take("keyword", "not"):
            negated = not negated
        if self._take("bracket", "("):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise ValueError(
                    f"The query nests more than {MAX_DEPTH} pairs of parentheses."
                )
            formula = self._junction(True)
            if not self._take("bracket", ")"):
                self._refuse("')'")
            self.depth -= 1
        else:
            formula = self._condition()
        return negate(formula) if negated else formula

    def _operands(self):
        """Take the tokens up to the next keyword, bracket or end."""
        start = self.place
        while self._next().kind in ("quoted", "operator", "word"):
            self.place += 1
        if start == self.place:
            self._refuse("a condition")
        return self.tokens[start : self.place]

    def _text_of(self, tokens):
        """Write tokens as they stand in the query; a quoted one without its quotes."""
        if len(tokens) == 1:
            return tokens[0].text
        return self.text[tokens[0].start : tokens[-1].end] if tokens else ""

    def _condition(self):
        tokens, vocabulary = self._operands(), self.vocabulary
        name = self._text_of(tokens)
        negated = self._take("keyword", "not")
        if self._take("keyword", "in"):
            formula = Junction(
                True,
                tuple(vocabulary.formula(name, "=", level) for level in self._list()),
            )
            return negate(formula) if negated else formula
        if negated:
            self._refuse("'in'")
        if name in vocabulary.columns:
            return Literal(vocabulary.columns[name], True)
        pairs = [
            (self._text_of(tokens[:k]), token.text, self._text_of(tokens[k + 1 :]))
            for k, token in enumerate(tokens)
            if token.kind == "operator"
        ]
        if not pairs:
            raise ValueError(vocabulary.unknown_name(name))
        known_pairs = [
            pair for pair in pairs if single_spaced(pair[0]) in vocabulary.attributes
        ]
        return vocabulary.formula(*(known_pairs or pairs)[0])

    def _list(self):
        """Read the levels after ``in``."""
        closing = BRACKETS.get(self._next().text)
        if self._next().kind != "bracket" or closing is None:
            self._refuse("a list such as (a, b)")
        self.place += 1
        levels = [self._text_of(self._operands())]
        while self._take("bracket", ","):
            levels.append(self._text_of(self._operands()))
        if not self._take("bracket", closing):
            self._refuse(f"',' or {closing!r}")
        return levels


def parse_query(text, names, argument):
    """Parse a query on columns with these names."""
    if not isinstance(text, str):
        raise ValueError(
            f'{argument} must be a text such as "age > 40 and not city = Rome"; got '
            f"{text!r}."
        )
    return Parser(text, vocabulary_of(tuple(names))).parse()


class QueryMixin:
    """Methods that take conditions in words.

    Besides the methods of ``BinaryDensityMixin`` a fitted model has
    ``_log_marginals(signs)``, the log-probability of the known bits of each sample.
    """

    def query(self, event, given=None):
        """Compute the probability of a condition, given another.

        Parameters
        ----------
        event : str or list of str
            Conditions joined by ``and``, ``or``, ``not`` and parentheses, such as
            ``"age > 40 and not city in (Rome, Oslo)"``. The name of a column means that
            it is true. Names such as those of `BooleanEncoder`, ``city = Rome`` and
            ``age <= 40``, are also conditions on an attribute, with ``=``, ``!=``,
            ``<=``, ``>``, ``in`` and ``not in``. A missing age, for which the column
            ``age is missing`` is true, satisfies neither ``age <= 40`` nor
            ``age > 40``, but ``not age <= 40``. Put quotes around a name or level with
            brackets, commas or one of the words above. Columns without names are called
            x0, x1 and so on.
        given : str, list of str or None, default=None
            Known facts: one condition for all events, or one for each. None: nothing.

        Returns
        -------
        probability : float, or ndarray of shape (n_events,), dtype float64
            Exact for the model if its likelihood is: a sum of marginals of disjoint
            terms, with all other columns summed out. How near it comes to the data
            depends on the model: a `DensityMixture` is much nearer than one tree.

        Raises
        ------
        ValueError
            For an unknown column or level, with those that are near; for text that is
            not a condition; for a ``given`` of probability 0; and for a query that
            needs more than 4096 terms.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklboolean import BooleanEncoder, ChowLiuTree
        >>> people = pd.DataFrame({"age": [25, 35, 45, 55], "city": list("RRPR")})
        >>> encoder = BooleanEncoder(n_bins=2, complement=False)
        >>> tree = ChowLiuTree(alpha=1e-9).fit(encoder.fit_transform(people))
        >>> round(tree.query("city = R", given="age > 40"), 3)
        0.5
        """
        check_is_fitted(self)
        events = [event] if np.ndim(event) == 0 else event
        conditions = [given] * len(events) if np.ndim(given) == 0 else given
        if len(conditions) != len(events):
            raise ValueError(
                f"given must be one condition, or one for each of {len(events)} "
                f"events; got {len(conditions)}."
            )
        formulas = [self._parse(text, "event") for text in events]
        probabilities = self._probabilities(formulas, conditions)
        return float(probabilities[0]) if np.ndim(event) == 0 else probabilities

    def standard_error(self, partitions, event, given=None):
        """Estimate the standard error of ``query``, from models of parts of the data.

        A clone is fitted to each part and answers the query. The error is the standard
        deviation of the answers, divided by the square root of their number: the
        method of random groups. It measures how much the answer of ``fit`` on all
        parts depends on the choice of the samples, not how far the model is from the
        truth.

        Parameters
        ----------
        partitions : iterable
            At least two random parts of the training data: pairs (X, y) or triples
            (X, y, sample_weight), where y may be None, or callables that load and
            return one. Take five or more, of equal sizes.
        event : str or list of str
            As for ``query``.
        given : str, list of str or None, default=None
            As for ``query``.

        Returns
        -------
        error : float, or ndarray of shape (n_events,), dtype float64
            At least 0.

        Raises
        ------
        ValueError
            For fewer than two parts, and as from ``fit`` and ``query``.

        References
        ----------
        Wolter. "Introduction to Variance Estimation". Second edition, Springer, 2007,
        chapter 2.

        Examples
        --------
        >>> from sklboolean import ChowLiuTree
        >>> parts = [([[0], [1], [1], [1]], None), ([[0], [0], [1], [1]], None)]
        >>> tree = ChowLiuTree(alpha=1e-9).fit(parts[0][0] + parts[1][0])
        >>> round(tree.query("x0"), 3), round(tree.standard_error(parts, "x0"), 3)
        (0.625, 0.125)
        """
        check_is_fitted(self)
        answers = []
        for number, source in enumerate(open_partitions(partitions)):
            with prefix_errors(number):
                X, _, sample_weight = load_partition(*source)
                model = clone(self).fit(X, sample_weight=sample_weight)
                answers.append(model.query(event, given))
        if len(answers) < 2:
            raise ValueError("partitions must be at least two parts; got one.")
        error = np.std(answers, axis=0, ddof=1) / np.sqrt(len(answers))
        return float(error) if np.ndim(error) == 0 else error

    def expected_counts(self, rows, columns, *, n_samples=1000, given=None):
        """Compute the expected number of samples of each combination of conditions.

        Parameters
        ----------
        rows, columns : list of str
            Conditions as for ``query``, each of which becomes a row or a column.
        n_samples : float, default=1000
            Number of samples that are spread over all combinations, above 0.
        given : str or None, default=None
            A condition that all of them satisfy. None: no condition.

        Returns
        -------
        counts : pandas.DataFrame of shape (n_rows, n_columns), dtype float64
            As exact as ``query``. They sum up to ``n_samples`` if exactly one row and
            one column holds in each sample.

        Raises
        ------
        ValueError
            As from ``query``.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklboolean import ChowLiuTree
        >>> X = pd.DataFrame({"wet": [0, 0, 1, 1, 1], "cold": [0, 0, 0, 1, 1]})
        >>> tree = ChowLiuTree(alpha=1e-9).fit(X)
        >>> tree.expected_counts(["wet", "not wet"], ["cold"], n_samples=5).round(1)
                 cold
        wet       2.0
        not wet   0.0
        """
        import pandas

        check_is_fitted(self)
        total = check_real(n_samples, "n_samples", 0.0, strict=True)
        pairs = product(
            [self._parse(row, "rows") for row in rows],
            [self._parse(column, "columns") for column in columns],
        )
        events = [Junction(False, pair) for pair in pairs]
        counts = total * self._probabilities(events, [given] * len(events))
        return pandas.DataFrame(
            counts.reshape(len(rows), len(columns)), index=rows, columns=columns
        )

    def _parse(self, text, argument):
        return parse_query(text, feature_names_of(self), argument)

    def _probabilities(self, events, conditions):
        """Compute the probability of each event, given the condition beside it."""
        split = self._split(events, conditions)
        shares = [softmax(logs)[truths].sum() for _, logs, truths in split]
        return np.minimum(np.array(shares, dtype=float), 1.0)  # rounding

    def _split(self, events, conditions):
        """Split each condition into its possible terms.

        Returns
        -------
        split : list of (signs, logs, truths)
            For each event the terms, their log-probabilities, and whether it is true
            there.
        """
        split_formulas = [
            disjoint_terms(event, condition is None or self._parse(condition, "given"))
            for event, condition in zip(events, conditions, strict=True)
        ]
        terms = [term for terms, _ in split_formulas for term in terms]
        signs = self._all_missing(len(terms))
        for row, term in zip(signs, terms, strict=True):
            row[list(term)] = [1 if value else -1 for value in term.values()]
        logs = self._log_marginals(signs) if terms else np.empty(0)
        split, start = [], 0
        for condition, (_, truths) in zip(conditions, split_formulas, strict=True):
            here = slice(start, start + len(truths))
            possible, start = logs[here] > -np.inf, here.stop
            if not possible.any():
                raise ValueError(
                    f"given={condition!r} has probability 0: no sample satisfies it. "
                    "Ask for something that can be true."
                )
            truths = np.array(truths, dtype=bool)
            split.append(
                (signs[here][possible], logs[here][possible], truths[possible])
            )
        return split

    def sample(self, n_samples=1, random_state=None, *, given=None) -> np.ndarray:
        """Draw independent samples from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples, at least 1.
        random_state : int, RandomState instance or None, default=None
            Source of the draws. None: the `random_state` of the estimator.
        given : str or None, default=None
            A condition as for ``query`` that all samples satisfy: the draws are from
            the conditional distribution. None: no condition.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features), dtype float64
            Written as the training data.
        """
        if given is None:
            return super().sample(n_samples, random_state)
        check_is_fitted(self)
        n_samples = check_integer(n_samples, "n_samples", 1)
        rng = self._rng(random_state)
        ((terms, logs, _),) = self._split([True], [given])
        chosen = rng.choice(len(terms), n_samples, p=softmax(logs))
        return self._draw(terms[chosen], rng)

    def most_probable(self, given=None) -> np.ndarray:
        """Find the most probable sample among those that satisfy a condition.

        Parameters
        ----------
        given : str or None, default=None
            A condition as for ``query``. None: no condition.

        Returns
        -------
        sample : ndarray of shape (n_features,), dtype float64
            Written as the training data. As exact as ``impute`` with ``method="map"``,
            which warns where it is not.
        """
        check_is_fitted(self)
        ((terms, _, _),) = self._split([True], [given])
        filled = self._complete_by_most_probable(terms, None)
        filled = filled.astype(np.int8)
        return self._write(filled[self._log_density(filled).argmax()])
