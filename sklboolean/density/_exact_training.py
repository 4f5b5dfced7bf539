"""Training of a machine by exact sums, whatever its inputs are."""

from dataclasses import replace

import numpy as np

from sklboolean._core.held_out import hold_out
from sklboolean._core.parameters import check_choice, check_integer, check_real, is_auto
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import grow
from sklboolean.density._machine import ALPHAS, MachineMixin, MachineState
from sklboolean.density._maximum_likelihood import (
    TrainingOptions,
    make_table,
    maximise_likelihood,
)
from sklboolean.density._rbm_params import log_numerators

N_ITER_GROWTH = 200  # at most, of machines that only tell how many units help


class ExactTrainingMixin(MachineMixin):
    """Methods of a machine that learns by exact sums.

    It has ``_check_params``, and ``_check_sums``, which refuses sums over the states of
    a machine with that number of inputs if they take too long.
    """

    def _pursues(self):
        return self.solver == "projection_pursuit" or super()._pursues()

    def _check_training_params(self, **more):
        """Check the parameters of exact training and collect its options."""
        check_choice(self.solver, "solver", ("lbfgs", "gradient", "projection_pursuit"))
        check_integer(self.n_init, "n_init", 1)
        if self.max_active is not None:
            check_integer(self.max_active, "max_active", 1)
        if not 0 < check_real(self.validation_fraction, "validation_fraction") < 1:
            raise ValueError(
                "validation_fraction must be between 0 and 1; got "
                f"{self.validation_fraction}."
            )
        return TrainingOptions(
            solver=self.solver,
            max_iter=check_integer(self.max_iter, "max_iter", 1),
            tol=check_real(self.tol, "tol", 0.0),
            n_jobs=self.n_jobs,
            **self._check_shared_params(),
            **more,
        )

    def _check_alpha(self):
        if self.alpha is not None and is_auto(self.alpha, "alpha"):
            return min(ALPHAS)  # until one is chosen
        return super()._check_alpha()

    def _start_fit(self, X, sample_weight, progress, allow_missing):
        """Check parameters and samples; return these, their weights and the options."""
        options = self._reporting(self._check_params(), progress)
        samples = self._read(X, reset=True, allow_missing=allow_missing)
        self._check_sums(samples.shape[1])
        weights = checked_weights(sample_weight, len(samples), divides=True)
        return samples, weights, self._set_alpha(options, weights.sum())

    def _maximise(self, samples, weights, options, rng, *, resumes=False):
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
            starts = self._starts(samples, weights, table.means, rng, m, self.n_init)
        total = weights.sum()
        ascent = maximise_likelihood(starts, table, total, options, rng, held_out)
        state = MachineState(ascent.params, log_partition=ascent.log_z)
        if self.early_stopping:
            state = MachineState(ascent.best)
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
            starts = self._starts(samples, weights, table.means, rng, m, self.n_init)
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

    def _resumed_params(self, n_features):
        return super()._resumed_params(n_features).replace(max_active=self.max_active)

    def _set_state(self, state, log_likelihoods=()):
        super()._set_state(state, len(log_likelihoods))
        self.log_likelihoods_ = np.array(log_likelihoods, dtype=np.float64)
        self.log_partition_ = state.log_partition
        if state.log_partition is None:
            self.log_partition_ = self._log_partition(state.params)
