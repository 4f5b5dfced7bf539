"""What machines with binary and with real inputs share: training by exact sums."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_same_params,
    flat_params,
    is_auto,
)
from sklboolean._core.validation import check_array_strict
from sklboolean.density._base import grow, hold_out
from sklboolean.density._initialization import (
    given_start,
    pursuit_starts,
    random_starts,
)
from sklboolean.density._maximum_likelihood import (
    SampleTable,
    TrainingOptions,
    make_table,
    maximise_likelihood,
    sum_inputs,
)
from sklboolean.density._partitioned_samples import PartitionedFitMixin
from sklboolean.density._pcd import PCDState
from sklboolean.density._rbm_params import (
    RBMParams,
    hidden_posteriors,
    log_numerators,
)

ALPHAS = (1e-2, 1e-3, 1e-4)  # among which alpha="auto" chooses
PRIOR = 2.0  # alpha times the number of samples, by default: weights of variance 1 / 2
N_ITER_GROWTH = 200  # at most, of machines that only tell how many units help


@dataclass(frozen=True)
class MachineState:
    """The state of a fitted machine; chains only where it learned from them."""

    params: RBMParams
    chains: PCDState | None = None
    log_partition: float | None = None  # None: not known yet

    def copy(self):
        """Copy the state with its parameters; chains are never changed in place."""
        return replace(self, params=self.params.copy())


class MachineMixin(
    PartitionedFitMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
):
    """What machines with binary and with real inputs share.

    Both have ``_state_params``, the parameters that must not change while training is
    resumed, ``_solvers``, and ``_check_params`` and ``_check_sums`` of the number of
    inputs.
    """

    _log_base = None  # of the base measure: 0 for binary inputs

    @property
    def _n_features_out(self):
        return self.n_components_

    def _pursues(self):
        """Test whether projection pursuit finds the units, and counts them."""
        return "projection_pursuit" in (self.solver, str(self.init))

    def _check_training_params(self, **more):
        """Check the parameters of both machines and collect those of training."""
        check_choice(self.solver, "solver", self._solvers)
        if isinstance(self.init, str):
            check_choice(self.init, "init", ("random", "projection_pursuit"))
        if self.n_components != "auto":
            check_integer(self.n_components, "n_components", 1)
        elif not isinstance(self.init, str):
            raise ValueError(
                "init is an array with a number of hidden units: set n_components to "
                "that number; got 'auto'."
            )
        elif self.solver == "pcd" and self.init == "random":
            raise ValueError(
                "n_components='auto' compares likelihoods, which solver='pcd' does not "
                "compute: give a number, or set init='projection_pursuit', which "
                "counts units by itself."
            )
        check_integer(self.n_init, "n_init", 1)
        check_integer(self.exact_limit, "exact_limit", 1, 30)
        if self.max_active is not None:
            check_integer(self.max_active, "max_active", 1)
        if not 0 < check_real(self.validation_fraction, "validation_fraction") < 1:
            raise ValueError(
                "validation_fraction must be between 0 and 1; got "
                f"{self.validation_fraction}."
            )
        if check_real(self.momentum, "momentum", 0.0) >= 1:
            raise ValueError(f"momentum must be below 1; got {self.momentum}.")
        alpha = min(ALPHAS)
        held_out = self.alpha is not None and is_auto(self.alpha, "alpha")
        if self.alpha is not None and not held_out:
            alpha = check_real(self.alpha, "alpha", 0.0)
        elif held_out and self.solver == "pcd":
            raise ValueError(
                "alpha='auto' compares likelihoods, which solver='pcd' does not "
                "compute: give a number."
            )
        return TrainingOptions(
            solver=self.solver,
            alpha=alpha,
            visible_bias=bool(self.visible_bias),
            learning_rate=check_real(
                self.learning_rate, "learning_rate", 0.0, strict=True
            ),
            momentum=self.momentum,
            max_iter=check_integer(self.max_iter, "max_iter", 1),
            tol=check_real(self.tol, "tol", 0.0),
            n_jobs=self.n_jobs,
            **more,
        )

    def _set_alpha(self, options, total):
        """Set the default penalty of so many samples."""
        if self.alpha is not None:
            return options
        # At most that of two samples: weights may be shares, of sum 1.
        return replace(options, alpha=max(min(ALPHAS), PRIOR / max(PRIOR, total)))

    def _reporting(self, options, progress):
        """Let training report its iterations."""

        def report(text, params, log_z=None, chains=None):
            state = MachineState(params, chains, log_z)
            return progress.step(
                lambda: text, lambda machine: machine._set_state(state)
            )

        return replace(options, report=report)

    def _fit_by_sums(self, samples, weights, options, rng, *, resumes=False):
        """Maximise the exact likelihood."""
        m, counts = self.n_components, weights > 0
        samples, weights = samples[counts], weights[counts]
        if not resumes and "auto" in (str(m), self.alpha):
            m, alpha = self._choose_by_held_out(samples, weights, options, rng)
            options = replace(options, alpha=alpha)
        self.alpha_ = options.alpha
        held_out = None
        if self.early_stopping:
            apart = self._select_held_out(len(samples), rng)
            held_out = make_table(samples[apart], weights[apart], self._log_base)
            samples, weights = samples[~apart], weights[~apart]
        table = make_table(samples, weights, self._log_base)
        starts = [self._state.params] if resumes else None
        if not resumes:
            starts = self._starts(samples, weights, table.means, rng, m)
        total = weights.sum()
        ascent = maximise_likelihood(starts, table, total, options, rng, held_out)
        state = MachineState(ascent.params, log_partition=ascent.log_z)
        if self.early_stopping:
            state = MachineState(ascent.best)
        self._set_state(state, ascent.log_likelihoods)

    def _fit_samples(self, samples):
        """Maximise the exact likelihood of samples of which only sums are computed."""
        options, m, alpha = self._check_params(), self.n_components, self.alpha
        pcd = self.solver == "pcd"
        if self._pursues() or pcd or self.early_stopping or "auto" in (str(m), alpha):
            raise ValueError(
                "fit_partitions needs solver='lbfgs' or 'gradient', init='random' or "
                "arrays, numbers as n_components and alpha, and early_stopping=False: "
                "it computes sums over samples only. Change these parameters, for "
                "example to those that fit chooses on some thousand samples."
            )
        if not samples.all():
            raise ValueError(
                "fit_partitions of a machine needs samples without missing values. "
                "BernoulliMixture and ChowLiuTree take NaN."
            )
        self._check_sums(samples.shape[1])
        rng = check_random_state(self.random_state)
        total, sums, log_base = samples.sum(sum_inputs, self._log_base)
        table = SampleTable(samples, None, sums / total, log_base / total)
        starts = self._starts(samples, None, table.means, rng, m)
        options = self._set_alpha(options, total)
        ascent = maximise_likelihood(starts, table, total, options, rng)
        self.alpha_ = options.alpha
        state = MachineState(ascent.params, log_partition=ascent.log_z)
        self._set_state(state, ascent.log_likelihoods)

    def _choose_by_held_out(self, samples, weights, options, rng):
        """Choose the number of units and the penalty, where these are "auto"."""
        m, alpha = self.n_components, options.alpha
        resumes = self.warm_start and hasattr(self, "_state")
        grows = m == "auto" and not self._pursues() and not resumes
        if not grows and self.alpha != "auto":
            return m, alpha
        apart = self._select_held_out(len(samples), rng)
        held_out, of_held_out = samples[apart].astype(np.float64), weights[apart]
        samples, weights = samples[~apart], weights[~apart]
        table, seed = make_table(samples, weights, self._log_base), rng.randint(2**31)
        options = replace(options, report=None)

        def log_likelihoods(m, options):
            rng = np.random.RandomState(seed)
            starts = self._starts(samples, weights, table.means, rng, m)
            ascent = maximise_likelihood(starts, table, weights.sum(), options, rng)
            return log_numerators(ascent.params, held_out) - ascent.log_z

        if grows:
            options = replace(options, max_iter=min(options.max_iter, N_ITER_GROWTH))
            if self.alpha == "auto":
                options = replace(options, alpha=ALPHAS[1])
            sizes = [1, *range(2, self.exact_limit + 1, 2)]
            m = grow(sizes, lambda m: log_likelihoods(m, options), of_held_out)
        if self.alpha == "auto":
            scores = [
                of_held_out @ log_likelihoods(m, replace(options, alpha=alpha))
                for alpha in ALPHAS
            ]
            alpha = ALPHAS[int(np.argmax(scores))]
        return m, alpha

    def _select_held_out(self, n_samples, rng):
        parameters = "early_stopping=True, n_components='auto' and alpha='auto'"
        return hold_out(n_samples, self.validation_fraction, rng, parameters)

    def _starts(self, samples, weights, centre, rng, m):
        """Choose the parameters from which training of m units starts: an iterable."""
        if self.warm_start and hasattr(self, "_state"):
            return [self._resumed_params(samples.shape[1])]
        inputs = self._fit_inputs(samples, weights, centre)
        if not isinstance(self.init, str):
            return [given_start(inputs, self.init, m)]
        if self._pursues():
            table = make_table(samples, weights, self._log_base)
            return pursuit_starts(
                inputs, table, weights.sum(), m, self.n_init, self.exact_limit, rng
            )
        return random_starts(inputs, m, self.n_init, rng)

    def _resumed_params(self, n_features):
        """Take the parameters of the last fit if they suit the constructor and X."""
        self._check_resumes()
        params = self._state.params
        if params.components.shape[1] != n_features:
            raise ValueError(
                f"X has {n_features} features; warm_start=True resumes from components "
                f"of shape {params.components.shape}. Set warm_start=False to start "
                "again."
            )
        return params.replace(max_active=self.max_active)

    def _check_resumes(self):
        names = set(self._state_params)
        if self.n_components == "auto":  # any number will do
            names.remove("n_components")
        check_same_params(self, sorted(names), n_components=self.n_components_)

    def _set_state(self, state, log_likelihoods=(), n_iter=None):
        """Set all fitted attributes."""
        self._state = state
        self._fitted_params = flat_params(self, self._state_params)
        params = state.params
        self.components_ = params.components
        self.hidden_bias_ = params.hidden_bias
        self.visible_bias_ = params.visible_bias
        self.n_components_ = len(params.components)
        self.log_likelihoods_ = np.array(log_likelihoods, dtype=np.float64)
        self.n_iter_ = len(log_likelihoods) if n_iter is None else n_iter

    def transform(self, X):
        """Compute the probability of each hidden unit given the sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is summed out; real inputs must be known.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_components), dtype float64
            Probability that the unit is active.
        """
        check_is_fitted(self)
        allow_missing = get_tags(self).input_tags.allow_nan
        return self._hidden_means(self._read(X, allow_missing=allow_missing))

    def _hidden_means(self, samples):
        params = self._state.params
        return hidden_posteriors(params.activations(samples), params.max_active)[1]

    def inverse_transform(self, X):
        """Compute the means of the inputs given hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            States of the hidden units, from 0 to 1.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features), dtype float64
            Written as the training data.
        """
        check_is_fitted(self)
        X = check_array_strict(X, dtype=np.float64)
        if X.shape[1] != self.n_components_:
            width = f"{X.shape[1]} columns for {self.n_components_} hidden units"
            raise ValueError(f"X has {width}; it must have one for each.")
        outside = np.argwhere((X < 0) | (X > 1))
        if len(outside):
            sample, unit = outside[0]
            raise ValueError(
                f"X holds {X[sample, unit]:g} in column {unit}; states of hidden units "
                "are 0 or 1, and probabilities, as from transform, lie between."
            )
        return self._write(self._input_means(X))
