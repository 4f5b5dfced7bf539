"""Base class of the models that add up weighted conjunctions."""

from copy import copy
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import as_words, targets_of
from sklboolean._core.conjunction_table import ones_of
from sklboolean._core.deprecation import NEXT, Gone, old_attribute, renamed
from sklboolean._core.directions import directions_of
from sklboolean._core.held_out import checked_splits, disjoint_test_sets
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.memory import bytes_left
from sklboolean._core.parallel import in_threads
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.progress import CallbackSupportMixin, Progress
from sklboolean._core.validation import validate_boolean, warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.rules._column_generation import (
    ConjunctionSpace,
    ConjunctionSum,
)
from sklboolean.rules._edits import listed
from sklboolean.rules._held_out_path import PATH_TOL, fit_path
from sklboolean.rules._rules import bound_text
from sklboolean.rules._weighted_rules import WeightedRulesMixin

# Below this number of samples a quarter of them chooses C badly: folds do.
FEWEST_FOR_ONE_SPLIT = 1000
N_FOLDS = 5
# From so many samples on the limit of work grows with their number.
MANY_SAMPLES = 20_000
# Share of the conjunctions that leave a model which has too many, at a time.
SHARE_LEFT_OUT = 0.2
# A model with a gap of this share of the objective predicts about as well as the best.
SMALL_GAP = 0.05

# The largest weight of a loss: squares of sums of these are numbers.
LARGEST_WEIGHT = 1e100
# Factor of the price of conjunctions of two literals and more: more is left to single
# features, whose effects add up.
CONJUNCTION_COST = 2.0


def _take_Cs(_, value, params):
    """Give the list of values to C."""
    if value is not None and not isinstance(params["C"], Real):
        params["C"] = value


def _take_time_limit(_, value, params):
    """Use work_limit, of which 1 takes about a second on one core."""
    if value is not None:
        work_limit = params["work_limit"]
        # Half of the time was for choosing C.
        limits = [value / 2] if work_limit is None else [value / 2, work_limit]
        params["work_limit"] = min(limits)


OLD_PARAMETERS = {
    "Cs": _take_Cs,
    "time_limit": _take_time_limit,
    "conjunction_cost": Gone(2.0, "Raise literal_cost for fewer long conjunctions."),
}


class ConjunctionModel(CallbackSupportMixin, WeightedRulesMixin, VersionedEstimator):
    """Fitting over all conjunctions, choosing C, and reading the result.

    A subclass defines ``_default_Cs``, the values of C to try without units,
    ``_faster``, what to take instead of a long fit,
    ``_held_out_loss(scores, targets)``, the losses of samples, and
    ``_training_samples(X, y, sample_weight, reset)``, which checks data and returns
    `TrainingSamples` and the arguments of ``_set_units`` or None.
    """

    _header = ("label", "conjunction", "weight", "coverage")

    @property
    def _memory(self):
        """Memory of a fit; the choice of C has no bound."""
        return self._memory_of_one_C if isinstance(self.C, Real) else None

    def _most_conjunctions(self, X, y):
        """Return for how many conjunctions, a bit of each sample, there is memory."""
        room = bytes_left(self, X, y)
        return room if np.isinf(room) else 8 * room / max(len(X), 1)

    def _check_params(self):
        if self.C is None:
            text = f"C=None is deprecated. Use C='auto' instead. {NEXT}"
            warn_user(text, FutureWarning)
        self._values_of_C(())
        check_integer(self.max_literals, "max_literals", 1)
        check_choice(self.monotone, "monotone", (False, True))
        check_real(self.literal_cost, "literal_cost", 1)
        check_real(self.tol, "tol", 0, strict=True)
        if self.max_conditions is not None:
            check_integer(self.max_conditions, "max_conditions", 1)
        if isinstance(self.cv, Integral):
            check_integer(self.cv, "cv", 2)
        if self.work_limit is not None:
            check_real(self.work_limit, "work_limit", 0, strict=True)

    def _values_of_C(self, default, unit=1.0):
        """Return the values of C to try, ascending, in units of one over ``unit``."""
        if self.C is None or (isinstance(self.C, str) and self.C == "auto"):
            return np.array(default)
        if isinstance(self.C, Real):
            return np.array([float(check_real(self.C, "C", 0, strict=True))]) * unit
        try:
            Cs = np.array(self.C, dtype=np.float64)
            is_valid = Cs.ndim == 1 and len(Cs) and (np.isfinite(Cs) & (Cs > 0)).all()
        except (TypeError, ValueError):
            is_valid = False
        if not is_valid:
            raise ValueError(
                "C must be a number above 0, a list of such numbers, or 'auto'; got "
                f"{self.C!r}."
            )
        return np.unique(Cs) * unit

    def without(self, conjunctions, X, y=None, sample_weight=None):
        """Leave out some conjunctions, and fit the weights of the others again.

        Parameters
        ----------
        conjunctions : str, int, or sequence of them
            Those to leave out: texts of ``rules_``, or numbers in ``conjunctions_``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Samples, such as those of the training.
        y : array-like of shape (n_samples,), default=None
            Their labels or targets. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights, as for ``fit``.

        Returns
        -------
        edited : estimator
            A new model, fitted with ``C_`` to the conjunctions that are left. It has
            ``edit_losses_``, the mean loss of this model and of the new one on the
            samples: the log-loss of a classifier, the squared error of a regressor. Its
            optimality gap is about sums of these conjunctions.

        Raises
        ------
        ValueError
            For unknown conjunctions and invalid data. This model stays as it is.
        """
        check_is_fitted(self)
        y, sample_weight = targets_of(self, X, y, sample_weight)
        given, terms = listed(conjunctions, "conjunctions"), self.conjunctions_
        removed = [self._named_term(c, terms, may_be_new=False) for c in given]
        edited = copy(self)
        samples, units = edited._training_samples(X, y, sample_weight, reset=False)
        edited._fit_kept(samples, [c for c in terms if c not in removed], units)
        return self._compare(edited, X, y, sample_weight)

    def _space(self):
        return ConjunctionSpace(
            self.n_features_in_, self.max_literals, self.monotone,
            float(self.literal_cost), self._groups(), CONJUNCTION_COST,
            directions_of(self),
        )  # fmt: skip

    def _learn(self, X, y, sample_weight):
        """Fit to samples: see ``fit`` of the subclasses."""
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            self._check_params()
            progress = Progress(self, "part", None, X, y)
            samples, units = self._training_samples(X, y, sample_weight)
            unit = 1.0 if units is None else units[0]
            Cs = self._values_of_C(self._default_Cs, unit)
            self._fit(samples, Cs, progress, units)
            self._shorten(samples, units, X, y, sample_weight)
        return self

    def _fit_kept(self, samples, conjunctions, units):
        """Fit the weights of some conjunctions, with the C of the last fit."""
        C = self.C_ if units is None else self.C_ * units[0]
        model = samples.generation(self._space(), self.n_jobs)
        model.add(conjunctions)
        model.minimize_present(C, self.tol)
        self.scores_, self.held_out_scores_ = None, None
        self._set_fitted_attributes(model, [model.solution()], np.array([C]))
        if units is not None:
            self._set_units(*units)

    def _shorten(self, samples, units, X, y, sample_weight):
        """Leave out conjunctions until there are few enough, a share at a time.

        Those leave whose weight times the deviation of their truth is smallest. The
        weights of the others are fitted again.
        """
        whole, most = copy(self), self.max_conditions
        while most is not None and (n_left := len(self.conjunctions_)) > most:
            truth = self.coverages_ / len(samples.weights)
            sizes = np.abs(self._state.coefficients).max(axis=0)
            order = np.argsort(-sizes * np.sqrt(truth * (1 - truth)), kind="stable")
            n_kept = min(n_left - 1, max(most, int(n_left * (1 - SHARE_LEFT_OUT))))
            kept = [self.conjunctions_[k] for k in order[:n_kept]]
            self._fit_kept(samples, kept, units)
        if len(self.conjunctions_) < len(whole.conjunctions_):
            whole._compare(self, X, y, sample_weight)

    def _fit(self, samples, Cs, progress, units=None):
        """Choose C, fit to all samples and set the fitted attributes.

        Parameters
        ----------
        samples : TrainingSamples
        Cs : ndarray
        progress : Progress
        units : tuple or None
            Arguments of ``_set_units``, which goes back to the units of y.
        """
        space = self._space()
        largest = float(Cs[-1]) * float(samples.weights.max())
        if largest > LARGEST_WEIGHT:
            raise ValueError(
                f"C={Cs[-1]:g} times the largest sample_weight is {largest:.3g}: above "
                f"{LARGEST_WEIGHT:g} sums would overflow. Divide sample_weight by its "
                "largest entry, or lower C."
            )
        n_samples = np.count_nonzero(samples.weights)
        limit = np.inf if self.work_limit is None else self.work_limit
        max_work = 1e9 * limit * max(1.0, n_samples / MANY_SAMPLES)
        seconds = (n_samples / 18_500) ** 1.3 * len(samples.targets)
        seconds = min(seconds * min(1, len(Cs) / 2), 2e-9 * max_work)
        warn_of_long_fit(self, seconds, self._faster)
        self.scores_, self.held_out_scores_, best, solutions = None, None, 0, []
        self.edit_losses_ = None
        if len(Cs) > 1:
            best, solutions = self._choose_C(samples, space, Cs, max_work, progress)
        model = samples.generation(space, self.n_jobs)
        model.add_features()
        path = list(solutions[:best])

        def set_attributes(estimator):
            estimator._set_fitted_attributes(model, path, Cs[: len(path)])
            if units is not None:
                estimator._set_units(*units)

        progress.count("C", best + 1 - len(path))
        # The path to the chosen C is that of the first held-out part. Where this part
        # ended before, each fit begins with the weights of the one before.
        if solutions:
            model.start_from(solutions[: best + 1][-1])
        for C in Cs[len(path) : best + 1]:
            if C < Cs[best]:
                model.minimize(C, PATH_TOL, exact=False)
            elif not model.minimize(C, self.tol, exact=True, max_work=max_work):
                self._warn_of_the_end(model)
            path.append(model.solution())
            text = f"C={C:.3g}, {len(path[-1].conjunctions)} conjunctions"
            if progress.step(lambda text=text: text, set_attributes):
                break
        set_attributes(self)
        progress.finish()

    def _choose_C(self, samples, space, Cs, max_work, progress):
        """Find the place of the C with the smallest held-out loss.

        Returns
        -------
        best : int
        solutions : list of ConjunctionSum
            The models of the first part, for each C from the smallest on.
        """
        splits, paths = self._split(samples.strata, samples.weights), []
        progress.count("part", len(splits))

        def path_of(train, test):
            train, held_out = samples.take(train), samples.take(test)
            loss, n_jobs = self._held_out_loss, self.n_jobs
            return fit_path(train, held_out, space, Cs, loss, max_work, n_jobs)

        for path in in_threads(path_of, splits, self.n_jobs):
            paths.append(path)
            if progress.step(partial("held-out loss {:.4f}".format, path.losses.min())):
                break
        if not paths:
            return len(Cs) // 2, []
        losses = np.array([path.losses for path in paths])
        self.scores_ = -losses
        best = int(np.argmin(np.mean(losses, axis=0)))
        if any(path.is_cut for path in paths):
            self._warn_of_a_cut(np.mean(losses, axis=0), Cs, best)
        held_out_scores = np.full(samples.targets.T.shape, np.nan)
        for (_, test), path in zip(splits, paths, strict=False):
            held_out_scores[test] = path.scores[best]
        is_one = len(samples.targets) == 1
        self.held_out_scores_ = held_out_scores[:, 0] if is_one else held_out_scores
        return best, paths[0].solutions

    def _split(self, strata, weights):
        """Draw the samples to fit and those to choose C by."""
        everything = np.arange(len(strata))
        if self.cv is None or isinstance(self.cv, Integral):
            # A sample of weight 0 is in no test set.
            strata = np.where(weights > 0, strata, -1)
            rng = check_random_state(self.random_state)
            n_folds, n_used = self.cv, np.count_nonzero(weights)
            if n_folds is None and n_used < FEWEST_FOR_ONE_SPLIT:
                n_folds = N_FOLDS
            tests = disjoint_test_sets(strata, n_folds, rng)
            return [(np.setdiff1d(everything, test), test) for test in tests]
        return checked_splits(self.cv, strata, weights)

    def _warn_of_a_cut(self, losses, Cs, best):
        """Warn that the limit of work ended the path of C, and what may be missed."""
        fell = ""
        if best:
            fall = losses[best - 1] - losses[best]
            fell = f" It fell by {fall:.2g} from C={Cs[best - 1]:.3g}."
        warn_user(
            f"A larger C may lower the held-out loss of {losses[best]:.4g} for "
            f"C={Cs[best]:.3g}.{fell} work_limit={self.work_limit:g} ended the path of "
            "C. Raise work_limit, or set C."
        )

    def _warn_of_the_end(self, model):
        """Warn that the limit of work ended the last fit, and how far it came."""
        n_used = len(model.solution().conjunctions)
        share = model.gap / model.objective
        limit = f"work_limit={self.work_limit:g}"
        how_far = "about as well as" if share < SMALL_GAP else "worse than"
        warn_user(
            f"The model may predict {how_far} the best one: its objective is at most "
            f"{share:.2%} above the least. {limit} ended the fit with {n_used} "
            "conjunctions. Raise work_limit, or lower C.",
            ConvergenceWarning,
        )

    def _set_fitted_attributes(self, model, path, Cs):
        state = path[-1]
        self.n_samples_fit_ = model.n_samples
        self.feature_counts_ = ones_of(model.features)
        # The largest absolute weight first, then in the order of the search.
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
            column_of = {c: column for column, c in enumerate(step.conjunctions)}
            for j, conjunction in enumerate(conjunctions):
                if conjunction in column_of:
                    column = column_of[conjunction]
                    self.coef_path_[k, :, j] = step.coefficients[:, column]
        self.objective_, self.optimality_gap_ = model.objective, model.gap
        self.is_optimal_ = bool(model.gap <= self.tol * model.objective)

    def _set_model(self, state, coverages):
        self._state, self.coverages_ = state, coverages
        self.conjunctions_ = list(state.conjunctions)
        self.conjunction_coef_ = state.coefficients
        self.intercept_ = state.intercepts
        if not is_classifier(self):
            self.conjunction_coef_ = self.conjunction_coef_[0]
            self.intercept_ = float(self.intercept_[0])

    def __setstate__(self, state):
        super().__setstate__(renamed(state, coef_="conjunction_coef_"))

    @property
    def coef_(self):
        """Refused: scikit-learn takes this for the weights of features."""
        raise AttributeError(
            f"{type(self).__name__} has no coef_ since version 0.3. The weights of "
            "its conjunctions are conjunction_coef_, and the importances of features "
            "are feature_importances_."
        )

    @property
    def rules_(self):
        """The conjunctions as a list of `Rule`, largest absolute weight first."""
        return sorted(self._weighted_rules(), key=lambda rule: -abs(rule.weight))

    def satisfied_rules(self, X) -> list:
        """List the rules of ``rules_`` that each sample satisfies, with their weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        rules : list of n_samples lists of Rule
            Those that the sample satisfies, largest absolute weight first. Their
            weights and the intercept add up to the score: the log-odds of the second of
            two classes, the score of the rule's ``label`` among more classes, or the
            prediction of a regressor.
        """
        check_is_fitted(self)
        words = as_words(validate_boolean(self, X, reset=False))
        number_of = {conjunction: k for k, conjunction in enumerate(self.conjunctions_)}
        satisfied, rules = self._state.satisfied(words), self.rules_
        numbers = [number_of[rule.literals] for rule in rules]
        return [
            [rule for rule, k in zip(rules, numbers, strict=True) if marks[k]]
            for marks in satisfied
        ]

    explain = old_attribute("explain", "satisfied_rules")

    def _proof(self):
        least = bound_text(self.objective_ - self.optimality_gap_)
        summands = f"allowed conjunctions of up to {self.max_literals} literals"
        if self.edit_losses_ is not None:
            summands = "these conjunctions, which were edited,"
        return (
            f"The objective is {self.objective_:.6g}. It is proved that no sum of "
            f"{summands} has one below {least}.",
        )

    def _caption(self):
        return "; ".join(
            f"{title} = {intercept:+.4g} + the weights of all conjunctions that hold"
            for title, intercept in zip(
                self._formula().output_names(), self._state.intercepts, strict=True
            )
        )
