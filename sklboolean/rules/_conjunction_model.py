"""Base class of the models that add up weighted conjunctions."""

from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral
from time import monotonic

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.bits import as_words
from sklboolean._core.dictionaries import check_columns, check_exported, read_numbers
from sklboolean._core.exports import versioned
from sklboolean._core.formula import Columns, WeightedSum, class_labels
from sklboolean._core.formulas import html_table, python_label
from sklboolean._core.held_out import disjoint_test_sets
from sklboolean._core.memory import bytes_left
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.progress import CallbackSupportMixin
from sklboolean._core.validation import validate_boolean, warn_user
from sklboolean.rules._column_generation import (
    ConjunctionSpace,
    ConjunctionSum,
)
from sklboolean.rules._exports import RulesMixin, read_classes, read_conjunctions
from sklboolean.rules._rules import Rule, names_of, numbers_of

# Below this number of samples a quarter of them chooses C badly: folds do.
FEWEST_FOR_ONE_SPLIT = 1000
N_FOLDS = 5

# The largest weight of a loss: squares of sums of these are numbers.
LARGEST_WEIGHT = 1e100

# Tolerance of models along the path, which only choose C.
PATH_TOL = 0.03
# Standard errors by which the held-out loss of a C is above the least, so that larger
# values of C are not tried.
CLEARLY = 3


@dataclass(frozen=True)
class HeldOutLosses:
    """The losses of the held-out samples, their weights, and their scores."""

    values: np.ndarray
    weights: np.ndarray
    scores: np.ndarray

    @cached_property
    def mean(self):
        """The weighted mean."""
        return float(np.average(self.values, weights=self.weights))

    def is_clearly_above(self, others):
        """Test whether the mean is above that of other losses of the same samples.

        By more than ``CLEARLY`` standard errors of the mean difference.
        """
        difference = self.mean - others.mean
        scatter = self.weights * (self.values - others.values - difference)
        error = np.sqrt(scatter @ scatter) / self.weights.sum()
        return bool(difference > CLEARLY * error)


class HeldOutWatch:
    """The held-out losses of a C: when it is clearly worse than another, it is left.

    That is when the mean loss is above the least of the values before and rises from
    one solution to the next, or in three steps of a solution in turn. Of three classes
    or more, one solution is enough if its loss is clearly above the least, or above
    that of the C before, which was above the least, too.

    Parameters
    ----------
    held_out_losses : callable
        Computes the `HeldOutLosses` of the present model.
    best : HeldOutLosses or None
        Those with the least mean of the values of C before; None for the first.
    before : float
        The mean loss of the last C before.

    Attributes
    ----------
    last : HeldOutLosses
        Of the last solution.
    """

    def __init__(self, held_out_losses, best, before):
        self.held_out_losses, self.best, self.before = held_out_losses, best, before
        self.least = np.inf if best is None else best.mean
        self.of_steps, self.of_solutions = [], []

    def after_step(self):
        """Measure the loss; return whether it has risen for three steps."""
        if np.isinf(self.least):
            return False
        self.of_steps.append(self.held_out_losses().mean)
        return self._has_risen(self.of_steps, 3)

    def after_solution(self):
        """Measure the loss; return whether it has risen."""
        self.last = self.held_out_losses()
        self.of_solutions.append(self.last.mean)
        return (
            self._has_risen(self.of_solutions, 1)
            or self._has_risen(self.of_steps, 3)
            or self._is_lost()
        )

    def _is_lost(self):
        """Test whether one solution is enough to see that the loss is not the least."""
        if self.best is None or self.last.scores.shape[1] == 1:
            return False
        is_second = self.least < self.before < self.last.mean
        return is_second or self.last.is_clearly_above(self.best)

    def _has_risen(self, losses, times):
        last = [self.least, *losses[-times - 1 :]]
        return len(last) == times + 2 and (
            losses[-1] > self.least and (np.diff(last[1:]) > 0).all()
        )


class ConjunctionModel(CallbackSupportMixin, RulesMixin, BaseEstimator):
    """Fitting over all conjunctions, choosing C, and reading the result.

    A subclass defines ``_held_out_loss(scores, targets)``, the losses of samples,
    and ``_labels()``, the class of each output or None.
    """

    conjunction_cost = 1.0  # of models that 0.1.0 stored

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _memory(self):
        """What a fit takes; the choice of C has no bound."""
        return None if self.C is None else self._memory_of_one_C

    def _most_conjunctions(self, X, y):
        """Return for how many conjunctions, a bit of each sample, there is memory."""
        room = bytes_left(self, X, y)
        return room if np.isinf(room) else 8 * room / max(len(X), 1)

    def _check_params(self):
        if self.C is not None:
            check_real(self.C, "C", 0, strict=True)
        check_integer(self.max_literals, "max_literals", 1)
        check_choice(self.monotone, "monotone", (False, True))
        check_real(self.literal_cost, "literal_cost", 1)
        check_real(self.conjunction_cost, "conjunction_cost", 1)
        check_real(self.tol, "tol", 0, strict=True)
        if isinstance(self.cv, Integral):
            check_integer(self.cv, "cv", 2)
        for name in ("work_limit", "time_limit"):
            if getattr(self, name) is not None:
                check_real(getattr(self, name), name, 0, strict=True)

    def _check_Cs(self, default, unit=1.0):
        """Return the values of C to try, ascending, in units of one over ``unit``."""
        if self.C is not None:
            return np.array([float(self.C)]) * unit
        if self.Cs is None:
            return np.array(default)
        Cs = np.array(self.Cs, dtype=np.float64)
        if Cs.ndim != 1 or not len(Cs) or not (np.isfinite(Cs) & (Cs > 0)).all():
            raise ValueError(
                f"Cs must be a list of numbers above 0, or None; got {self.Cs!r}."
            )
        return np.unique(Cs) * unit

    def _fit(self, samples, Cs, progress, units=None):
        """Choose C, fit to all samples and set the fitted attributes.

        Parameters
        ----------
        samples : TrainingSamples or PartitionedTraining
        Cs : ndarray
        progress : Progress
        units : tuple or None
            Arguments of ``_set_units``, which goes back to the units of y.
        """
        space = ConjunctionSpace(
            self.n_features_in_, self.max_literals, self.monotone,
            float(self.literal_cost), self._groups(), float(self.conjunction_cost),
        )  # fmt: skip
        largest = float(Cs[-1]) * samples.largest_weight()
        if largest > LARGEST_WEIGHT:
            raise ValueError(
                f"C={Cs[-1]:g} times the largest sample_weight is {largest:.3g}: above "
                f"{LARGEST_WEIGHT:g} sums would overflow. Divide sample_weight by its "
                "largest entry, or lower C."
            )
        self.scores_, self.held_out_scores_, best, solutions = None, None, 0, []
        halfway, until = self._ends()
        if len(Cs) > 1:
            best, solutions = self._choose_C(samples, space, Cs, halfway, progress)
        model = samples.generation(space, self.n_jobs)
        model.add_features()
        path = []

        def set_attributes(estimator):
            estimator._set_fitted_attributes(model, path, Cs[: len(path)])
            if units is not None:
                estimator._set_units(*units)

        progress.count("C", best + 1)
        for k, C in enumerate(Cs[: best + 1]):
            if k < len(solutions):
                model.start_from(solutions[k])
            if k < best:
                model.minimize(C, PATH_TOL, exact=False, until=until)
            elif not model.minimize(
                C, self.tol, exact=True, until=until, max_work=self._max_work()
            ):
                self._warn_of_the_end(model, until)
            path.append(model.solution())
            text = f"C={C:.3g}, {len(path[-1].conjunctions)} conjunctions"
            if progress.step(lambda text=text: text, set_attributes):
                break
        set_attributes(self)
        progress.finish()

    def _choose_C(self, samples, space, Cs, until, progress):
        """Find the place of the C with the smallest held-out loss.

        Returns
        -------
        best : int
        solutions : list of ConjunctionSum
            The models of the first part, for each C from the smallest on.
        """
        parts = samples.parts(self)
        progress.count("part", len(parts))
        path = partial(self._path_losses, space, Cs, until)
        losses, scores, limits, solutions = [], [], set(), []
        for found in samples.map(path, parts, self.n_jobs):
            of_part, scores_of_part, limit, of_Cs = found
            losses.append(of_part)
            scores.append(scores_of_part)
            limits.add(limit)
            solutions = solutions or of_Cs
            least = of_part.min()
            if progress.step(partial("held-out loss {:.4f}".format, least)):
                break
        if not losses:
            return len(Cs) // 2, []
        for limit in sorted(limits - {None}):
            warn_user(
                f"{limit}={getattr(self, limit):g} ended the path of C where larger "
                f"values may predict better. Raise {limit}, or set C."
            )
        self.scores_ = -np.array(losses)
        best = int(np.argmin(np.mean(losses, axis=0)))
        of_best = [of_part[best] for of_part in scores]
        self.held_out_scores_ = samples.held_out_scores(parts, of_best)
        return best, solutions

    def _split(self, strata, weights):
        """Draw the samples to fit and those to choose C by."""
        everything = np.arange(len(strata))
        if self.cv is None or isinstance(self.cv, Integral):
            # A sample of weight 0 is in no test set.
            strata = np.where(weights > 0, strata, -1)
            rng = check_random_state(self.random_state)
            n_folds = self._n_folds(np.count_nonzero(weights))
            tests = disjoint_test_sets(strata, n_folds, rng)
            return [(np.setdiff1d(everything, test), test) for test in tests]
        pairs = list(check_cv(self.cv).split(everything[:, None], strata))
        classes = set(strata)
        for k, (train, test) in enumerate(pairs):
            if set(strata[train][weights[train] > 0]) != classes or not (
                weights[test].any()
            ):
                raise ValueError(
                    f"cv: split {k} has a class without samples to fit, or no samples "
                    "to test, counting those of weight above 0. Use fewer or "
                    "stratified splits."
                )
        return pairs

    def _n_folds(self, n_samples):
        """Return the number of folds that choose C, or None for one split."""
        are_few = n_samples < FEWEST_FOR_ONE_SPLIT
        return N_FOLDS if self.cv is None and are_few else self.cv

    def _ends(self):
        """Return the times at which to stop: half of the time is for choosing C."""
        if self.time_limit is None:
            return None, None
        start = monotonic()
        return start + self.time_limit / 2, start + self.time_limit

    def _warn_of_the_end(self, model, until):
        """Say which limit ended the last fit, and what it left."""
        is_late = until is not None and monotonic() >= until
        limit = "time_limit" if is_late else "work_limit"
        n_used = len(model.solution().conjunctions)
        warn_user(
            f"{limit}={getattr(self, limit):g} ended the fit with {n_used} "
            f"conjunctions. The objective is {model.objective:.4g}, at most "
            f"{model.gap:.3g} above that of the best model. Raise {limit}, or lower C.",
            ConvergenceWarning,
        )

    def _max_work(self):
        """Return the work after which to stop."""
        return np.inf if self.work_limit is None else 1e9 * self.work_limit

    def _path_losses(self, space, Cs, until, part):
        """Compute the mean held-out loss for each C, from the smallest on.

        The path ends with the second C in turn that is above the least, with one that
        is clearly above it, or at a limit. The values of C that are left out have an
        infinite loss.

        Returns
        -------
        losses : ndarray of shape (n_Cs,)
        scores : list of ndarray of shape (n_test, n_outputs)
            Of the test samples, for each C that was not left out.
        limit : {"time_limit", "work_limit", None}
            The limit that ended the path. None too where the work ended it after the
            loss had risen.
        solutions : list of ConjunctionSum
            The model of each C that was not left out.
        """
        model, (words, weights, targets) = part.generation(space), part.held_out()
        model.add_features()
        losses, best = np.full(len(Cs), np.inf), None
        max_work, scores, solutions = self._max_work(), [], []

        def held_out_losses():
            found = model.solution().scores(words)
            values = self._held_out_loss(found, targets)
            return HeldOutLosses(values, weights, found)

        for k, C in enumerate(Cs):
            watch = HeldOutWatch(held_out_losses, best, losses[k - 1])
            rest = max_work - model.work
            model.minimize(
                C, PATH_TOL, exact=False, until=until, watch=watch, max_work=rest
            )
            if k and until is not None and monotonic() >= until:
                return losses, scores, "time_limit", solutions
            if k and model.work >= max_work:
                has_risen = losses[k - 1] > best.mean
                limit = None if has_risen else "work_limit"
                return losses, scores, limit, solutions
            solutions.append(model.solution())
            scores.append(watch.last.scores)
            losses[k] = watch.last.mean
            if best is None or losses[k] <= best.mean:
                best = watch.last
            elif losses[k - 1] > best.mean or watch.last.is_clearly_above(best):
                break
        return losses, scores, None, solutions

    def _set_fitted_attributes(self, model, path, Cs):
        state = path[-1]
        order = np.lexsort(
            (
                np.arange(len(state.conjunctions)),
                -np.abs(state.coefficients).max(axis=0),
            )
        )
        conjunctions = [state.conjunctions[k] for k in order]
        coverages = model.coverages(conjunctions)
        coefficients = np.ascontiguousarray(state.coefficients[:, order])
        # Classes of the same weight tie, whatever the order of the samples.
        intercepts = state.intercepts.round(12)
        self._set_model(
            ConjunctionSum(tuple(conjunctions), coefficients, intercepts), coverages
        )
        self.C_, self.Cs_ = float(Cs[-1]), Cs
        self.coef_path_ = np.zeros((len(Cs), *coefficients.shape))
        for k, step in enumerate(path):
            places = {one: j for j, one in enumerate(step.conjunctions)}
            for j, one in enumerate(conjunctions):
                if one in places:
                    self.coef_path_[k, :, j] = step.coefficients[:, places[one]]
        self.objective_, self.optimality_gap_ = model.objective, model.gap
        self.is_optimal_ = bool(model.gap <= self.tol * model.objective)

    def _set_model(self, state, coverages):
        self._state, self.coverages_ = state, coverages
        self.conjunctions_ = list(state.conjunctions)
        self.coef_, self.intercept_ = state.coefficients, state.intercepts
        if not is_classifier(self):
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])

    def _scores(self, X):
        """Compute the sums of each sample, of shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        return self._state.scores(validate_boolean(self, X, reset=False))

    @property
    def rules_(self):
        """The conjunctions as a list of `Rule`, largest absolute weight first."""
        check_is_fitted(self)
        names = self._names()
        rules = [
            Rule(
                literals, float(w), float(w), int(n), label=label,
                names=names_of(literals, names),
            )
            for label, weights in zip(
                self._labels(), self._state.coefficients, strict=True
            )
            for literals, w, n in zip(
                self.conjunctions_, weights, self.coverages_, strict=True
            )
            if w
        ]  # fmt: skip
        return sorted(rules, key=lambda rule: -abs(rule.weight))

    def explain(self, X) -> list:
        """List the conjunctions that each sample satisfies, with what they add.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        explanations : list of n_samples lists of Rule
            The rules of ``rules_`` that the sample satisfies, largest absolute weight
            first. Their weights and the intercept add up to the score: the log-odds of
            the second of two classes, the score of the rule's ``label`` among more
            classes, or the prediction of a regressor.
        """
        check_is_fitted(self)
        words = as_words(validate_boolean(self, X, reset=False))
        places = {one: k for k, one in enumerate(self.conjunctions_)}
        satisfied, rules = self._state.satisfied(words), self.rules_
        numbers = [places[rule.literals] for rule in rules]
        return [
            [rule for rule, k in zip(rules, numbers, strict=True) if held[k]]
            for held in satisfied
        ]

    def _formula(self):
        is_label = is_classifier(self)
        return WeightedSum(
            Columns.of(self, self.binarize),
            self._state.conjunctions,
            self._state.coefficients,
            self._state.intercepts,
            class_labels(self) if is_label else None,
            has_probabilities=is_label,
            proof=self._proof(),
        )

    def _proof(self):
        if not hasattr(self, "optimality_gap_"):  # it was read from a dictionary
            return ()
        return (
            f"The objective is {self.objective_:.6g}. It is proved that no sum of "
            f"conjunctions of up to {self.max_literals} literals has one below "
            f"{self.objective_ - self.optimality_gap_:.6g}.",
        )

    def to_dict(self) -> dict:
        """Write the model and what ``predict`` needs as a dictionary of JSON types.

        Returns
        -------
        data : dict
            Without the path of C and its scores.

        Raises
        ------
        ValueError
            For labels that are neither text nor finite numbers.
        """
        check_is_fitted(self)
        values = {
            "conjunctions": [list(map(list, one)) for one in self.conjunctions_],
            "coef": self._state.coefficients.tolist(),
            "intercept": self._state.intercepts.tolist(),
            "coverages": self.coverages_.tolist(),
            "C": self.C_,
            "n_features": self.n_features_in_,
            "feature_names": self._names(),
            "binarize": self.binarize,
        }
        if is_classifier(self):
            values["classes"] = [python_label(label) for label in self.classes_]
            values["dtype"] = self.classes_.dtype.str
        return versioned(type(self).__name__, values)

    @classmethod
    def from_dict(cls, data):
        """Make a fitted model from a dictionary.

        Parameters
        ----------
        data : dict
            From ``to_dict``, also after ``json.loads(json.dumps(data))``.

        Returns
        -------
        model : estimator
            It predicts as the original. Its parameters other than ``binarize`` are the
            defaults, and it has no attributes about the fit other than ``C_``.

        Raises
        ------
        ValueError
            When the dictionary is not one of this class, or was written by a newer
            version.
        """
        names = (
            "conjunctions coef intercept coverages C n_features feature_names binarize"
        ).split()
        names += ["classes", "dtype"] * issubclass(cls, ClassifierMixin)
        values = check_exported(data, cls.__name__, names)
        n_features, columns = values["n_features"], values["feature_names"]
        check_columns(n_features, columns, values["binarize"])
        model, n_outputs = cls(binarize=values["binarize"]), 1
        if "classes" in values:
            model.classes_ = read_classes(values["classes"], values["dtype"])
            n_classes = len(model.classes_)
            n_outputs = n_classes if n_classes > 2 else 1
        conjunctions = read_conjunctions(values["conjunctions"], n_features)
        shape = n_outputs, len(conjunctions)
        coefficients = read_numbers(values["coef"], "coef", shape)
        intercepts = read_numbers(values["intercept"], "intercept", shape[:1])
        coverages = read_numbers(values["coverages"], "coverages", shape[1:])
        model.C_ = float(read_numbers(values["C"], "C", ()))
        model._set_model(
            ConjunctionSum(conjunctions, coefficients, intercepts),
            coverages.astype(np.int64),
        )
        model.n_features_in_ = n_features
        if columns is not None:
            model.feature_names_in_ = np.array(columns, dtype=object)
        return model

    def _rules_html(self):
        rows = [
            [
                "" if rule.label is None else str(rule.label),
                rule.to_text(self._names()),
                *numbers_of(rule, "weight", "coverage"),
            ]
            for rule in self.rules_
        ]
        caption = "; ".join(
            f"{title} = {intercept:+.4g} + the weights of all conjunctions that hold"
            for title, intercept in zip(
                self._formula().output_names(), self._state.intercepts, strict=True
            )
        )
        return html_table(caption, ["label", "conjunction", "weight", "coverage"], rows)
