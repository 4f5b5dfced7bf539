"""Training of a machine by exact sums, whatever its inputs are."""

# A fit in steps:
# 1. Check parameters and samples, which become signs (int8) or real numbers (float64)
#    of shape (n_samples, n_features), and weights (float64).
# 2. Where the number of units or the penalty is "auto", compare machines by a held-out
#    tenth of the samples. All samples are used afterwards.
# 3. Merge equal samples (`make_table`): sums over samples then do not depend on their
#    order, and cost less.
# 4. Choose starts, and maximise the penalised mean log-likelihood from them
#    (`maximise_likelihood`), whose gradient is exact (Freund, 4.10 to 4.15).
# 5. Set the fitted attributes in `_set_state`.
#
# Invariant: the random numbers are drawn in this order, so that a seed gives the same
# machine for any `n_jobs`.

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state, get_tags

from sklboolean._core.base import restore_on_error
from sklboolean._core.held_out import hold_out
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.parameters import check_choice, check_integer, is_auto
from sklboolean._core.progress import Progress
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import grow
from sklboolean.density._machine import ALPHAS, MachineMixin, MachineState
from sklboolean.density._maximum_likelihood import (
    GradientAscent,
    TrainingOptions,
    make_table,
    maximise_likelihood,
)
from sklboolean.density._rbm_params import log_numerators

N_ITER_GROWTH = 200  # at most, of machines that only compare numbers of units
HELD_OUT = 0.1  # of the samples, where something is "auto"


class ExactTrainingMixin(MachineMixin):
    """Methods of a machine that learns by exact sums.

    It has ``_check_params``, and ``_check_sums``, which refuses sums over the states of
    a machine with that number of inputs if they take too long. If its samples may have
    missing values, ``_fit_incomplete`` learns from them.
    """

    _seconds = 9e-5  # of a fit, for each sample of 30 features
    _faster = "ChowLiuTree or BernoulliMixture"

    def _pursues(self):
        return self.solver == "projection_pursuit" or super()._pursues()

    def _hidden_units(self):
        pair = self.n_components
        return pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, None)

    def _check_training_params(self, **more):
        """Check the parameters of exact training and collect its options."""
        solver = self.solver
        if isinstance(solver, GradientAscent):
            solver._check_params()
        else:
            check_choice(solver, "solver", ("lbfgs", "gradient", "projection_pursuit"))
            solver = GradientAscent() if solver == "gradient" else solver
        check_integer(self.n_init, "n_init", 1)
        max_active = self._hidden_units()[1]
        if max_active is not None:
            check_integer(max_active, "the second number of n_components", 1)
        return TrainingOptions(
            solver=solver,
            max_iter=check_integer(self.max_iter, "max_iter", 1),
            **self._check_shared_params(),
            **more,
        )

    def _check_alpha(self):
        if self.alpha is not None and is_auto(self.alpha, "alpha"):
            return min(ALPHAS)  # until one is chosen
        return super()._check_alpha()

    def _fit(self, X, sample_weight, *, resumes=False):
        """Check parameters and samples, and learn from these."""
        with restore_on_error(self):
            progress = Progress(self, "step", None, X)
            options = self._reporting(self._check_params(), progress)
            if resumes:
                options = replace(options, start=self._state.params)
            allow_missing = get_tags(self).input_tags.allow_nan
            samples = self._read(X, reset=True, allow_missing=allow_missing)
            self._check_sums(samples.shape[1])
            weights = checked_weights(sample_weight, len(samples))
            seconds = self._seconds * len(samples) * (samples.shape[1] / 30) ** 0.5
            warn_of_long_fit(self, seconds, self._faster)
            options = self._set_alpha(options, weights.sum())
            rng = check_random_state(self.random_state)
            is_complete = not self._is_missing(samples).any()
            fit = self._maximise if is_complete else self._fit_incomplete
            fit(samples, weights, options, rng)
            progress.finish()
        return self

    def _maximise(self, samples, weights, options, rng, *, is_chosen=False):
        """Maximise the exact likelihood.

        ``is_chosen`` tells that an ascent before has chosen what is "auto".
        """
        (m, _), counts = self._hidden_units(), weights > 0
        # Samples of weight 0 must not change the held-out samples or the starts.
        samples, weights = samples[counts], weights[counts]
        if not is_chosen and "auto" in (str(m), self.alpha):
            m, alpha = self._choose_by_held_out(samples, weights, options, rng)
            options = replace(options, alpha=alpha)
        self.alpha_ = options.alpha
        table = make_table(samples, weights, self._log_base)
        inputs = samples, weights, table.means
        starts = self._starts(*inputs, options, rng, m, self.n_init)
        ascent = maximise_likelihood(starts, table, weights.sum(), options, rng)
        state = MachineState(ascent.params, log_partition=ascent.log_z)
        self._set_state(state, ascent.log_likelihoods)

    def _choose_by_held_out(self, samples, weights, options, rng):
        """Choose the number of units and the penalty, where these are "auto"."""
        (m, _), alpha = self._hidden_units(), options.alpha
        grows = m == "auto" and not self._pursues() and options.start is None
        if not grows and self.alpha != "auto":
            return m, alpha
        parameters = "n_components='auto' and alpha='auto'"
        apart = hold_out(len(samples), HELD_OUT, rng, parameters)
        held_out, of_held_out = samples[apart].astype(np.float64), weights[apart]
        samples, weights = samples[~apart], weights[~apart]
        table, seed = make_table(samples, weights, self._log_base), rng.randint(2**31)
        options = replace(options, report=None)

        def log_likelihoods(m, options):
            rng = np.random.RandomState(seed)
            inputs = samples, weights, table.means
            starts = self._starts(*inputs, options, rng, m, self.n_init)
            ascent = maximise_likelihood(starts, table, weights.sum(), options, rng)
            return log_numerators(ascent.params, held_out) - ascent.log_z

        if grows:
            options = replace(options, max_iter=min(options.max_iter, N_ITER_GROWTH))
            if self.alpha == "auto":
                options = replace(options, alpha=ALPHAS[1])
            sizes = [1, *range(2, self._exact_limit + 1, 2)]
            m = grow(sizes, lambda m: log_likelihoods(m, options), of_held_out)
        if self.alpha == "auto":
            scores = [
                of_held_out @ log_likelihoods(m, replace(options, alpha=alpha))
                for alpha in ALPHAS
            ]
            alpha = ALPHAS[int(np.argmax(scores))]
        return m, alpha

    def _set_state(self, state, log_likelihoods=()):
        super()._set_state(state, len(log_likelihoods))
        self.log_likelihoods_ = np.array(log_likelihoods, dtype=np.float64)
        self.log_partition_ = state.log_partition
        if state.log_partition is None:
            self.log_partition_ = self._log_partition(state.params)
