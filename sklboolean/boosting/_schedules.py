"""Schedules: what is assumed of weak hypotheses, and how they are fitted."""

# A schedule is what the user sets. Checked and completed by the number of rounds it
# becomes a `Schedule`, which the rounds read, or a `FilterPlan`. Parameters of version
# 0.2 are put into a new schedule one after the other, in the order in which they come.

from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.versioned import VersionedEstimator


class BoostingSchedule(VersionedEstimator):
    """Plan the rounds of `BoostByMajority` and `BoostByMajorityRegressor`.

    It is a value of their parameter ``schedule``. As ``"auto"`` it has its defaults.

    Parameters
    ----------
    gamma : float, "measured" or "auto", default="auto"
        Edge that is assumed of every hypothesis: its weighted accuracy minus 1/2. A
        number is above 0 and below 0.5; use it if you know the edge of your weak
        learner. "measured", of the classifier: the mean of the last 20 edges. "auto":
        the classifier compares several ways to set it (`CrossValidatedSchedule`). With
        ``n_estimators="auto"`` it measures the edge, and measures it again when the
        plan fails. The regressor takes the gamma for which its number of rounds leaves
        `target_error`. Without such a number it takes 0.7 of the first edge. When that
        was too much, so that the average potential reaches `target_error`, it plans
        again with 0.7 of the mean of the last 15 edges.
    target_error : float or None, default=None
        Training error for which the rounds are planned, by weight, above 0 and below 1;
        of the regressor below 0.5. None: less than that of a single sample. Increase it
        with ``n_estimators="auto"`` when labels are noisy. For a regressor with gross
        errors in y take twice their share, with a number for ``n_estimators``.
    sampling : {"auto", "weight", "resample"}, default="auto"
        Whether the weak learner is given the weights of a round, or samples drawn in
        proportion to them. "auto": "weight" if its ``fit`` takes ``sample_weight``.
    n_samples_weak : int or None, default=None
        Number of samples to draw for each hypothesis, where samples are drawn. None: as
        many as there are. Fewer make fits faster and hypotheses more diverse.
    holdout : float or None, default=None
        Share of the samples, drawn anew in each round, on which a hypothesis is judged
        and not trained; above 0 and below 1. It guards against hypotheses that overfit.
    weak_failure : {"auto", "abort", "replan", "raise"}, default="auto"
        What to do when a hypothesis has no edge. "abort": replace it by a fair coin.
        "replan": do that and plan the remaining rounds with the measured edges; the
        regressor drops it instead, and stops if the mean of the last 15 edges is not
        positive. "raise": raise an error. "auto": "abort" for labels, "replan" for real
        values. With a number for ``gamma``, "replan" and "raise" of the classifier
        count smaller edges as failures too.
    max_tries : int, default=1
        Number of fits in a round until one has the assumed edge; the best counts. More
        than 1 helps only if the weak learner is random.
    max_estimators : int or None, default=None
        Largest number of rounds for ``n_estimators="auto"``. None: 2001; of a regressor
        101, or what a given gamma needs.

    See Also
    --------
    CrossValidatedSchedule : Chooses what is assumed by cross-validation.
    FilteringSchedule : The same for streams.

    Examples
    --------
    >>> from sklboolean import BoostByMajority
    >>> from sklboolean.boosting import BoostingSchedule
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> X, y = make_tic_tac_toe(return_X_y=True)
    >>> booster = BoostByMajority(schedule=BoostingSchedule(gamma=0.05)).fit(X, y)
    >>> float(booster.gammas_[0])
    0.05
    """

    def __init__(
        self, gamma="auto", *, target_error=None, sampling="auto", n_samples_weak=None,
        holdout=None, weak_failure="auto", max_tries=1, max_estimators=None,
    ):  # fmt: skip
        self.gamma = gamma
        self.target_error = target_error
        self.sampling = sampling
        self.n_samples_weak = n_samples_weak
        self.holdout = holdout
        self.weak_failure = weak_failure
        self.max_tries = max_tries
        self.max_estimators = max_estimators

    def _checked(self, weak_failure):
        """Check what needs no data, and collect it for the rounds.

        Parameters
        ----------
        weak_failure : str
            In place of "auto".

        Returns
        -------
        options : dict
            Options of a `Schedule`.
        """
        params = self.get_params(deep=False)
        for name in ("target_error", "holdout"):
            value = params[name]
            if value is not None:
                check_real(value, name, 0, strict=True, below=1)
        if params.get("max_estimators") is not None:  # only of a given schedule
            check_integer(params["max_estimators"], "max_estimators", 1)
        failures = ("auto", "abort", "replan", "raise")
        failure = check_choice(self.weak_failure, "weak_failure", failures)
        return {
            "target_error": self.target_error,
            "holdout": self.holdout,
            "weak_failure": weak_failure if failure == "auto" else failure,
            "max_tries": check_integer(self.max_tries, "max_tries", 1),
        }


class FilteringSchedule(VersionedEstimator):
    """Plan the rounds of `FilteringBoostByMajority`.

    It is a value of its parameter ``schedule``. As ``"auto"`` it has its defaults.

    Parameters
    ----------
    gamma : float, default=0.1
        Edge that is assumed of every hypothesis: its accuracy minus 1/2, above 0 and
        below 0.5. A larger edge needs far fewer samples.
    target_error : float, default=0.1
        Error of the vote for which the rounds are planned, above 0 and below 0.5.
    mode : {"practical", "theory"}, default="practical"
        "theory" takes the numbers of samples for which the bounds of the thesis hold.
        "practical" takes a hundredth of them or fewer.
    n_samples_weak : int, default=200
        Number of accepted samples that train a hypothesis. In "practical" mode as many
        test it.
    max_tries : int, default=1
        In "practical" mode: number of batches in a round until a hypothesis has half of
        the assumed edge on its test samples.
    weak_failure : {"abort", "raise"}, default="abort"
        What to do when no hypothesis of a round has half of the assumed edge: take the
        best one if it is better than a coin, and a coin otherwise; or raise an error.
    delta : float, default=0.1
        Probability of failure allowed, above 0 and below 1. It sets when a round is
        aborted, and in "theory" mode the numbers of samples.
    weak_learner_success_rate : float, default=1.0
        In "theory" mode: probability with which a hypothesis has the assumed edge,
        above 0 and at most 1.

    See Also
    --------
    sklboolean.theory.filter_sample_bound : Bound on the number of samples.

    Examples
    --------
    >>> from sklboolean import FilteringBoostByMajority
    >>> from sklboolean.boosting import FilteringSchedule
    >>> X, y = [[0, 1], [1, 0]] * 50, [0, 1] * 50
    >>> schedule = FilteringSchedule(gamma=0.3, n_samples_weak=20)
    >>> FilteringBoostByMajority(schedule=schedule, random_state=0).fit(X, y).k_
    7
    """

    def __init__(
        self, gamma=0.1, *, target_error=0.1, mode="practical", n_samples_weak=200,
        max_tries=1, weak_failure="abort", delta=0.1, weak_learner_success_rate=1.0,
    ):  # fmt: skip
        self.gamma = gamma
        self.target_error = target_error
        self.mode = mode
        self.n_samples_weak = n_samples_weak
        self.max_tries = max_tries
        self.weak_failure = weak_failure
        self.delta = delta
        self.weak_learner_success_rate = weak_learner_success_rate


def schedule_of(value, kind):
    """Check the parameter ``schedule`` of a booster, and return it as an object."""
    if isinstance(value, str) and value == "auto":
        return kind()
    if not isinstance(value, kind):
        raise ValueError(
            f"schedule must be 'auto' or a {kind.__name__}; got {value!r}. For example "
            f"schedule={kind.__name__}(gamma=0.1)."
        )
    return value


class InSchedule:
    """The rule of a parameter of version 0.2 that belongs to the schedule now.

    Parameters
    ----------
    kind : type
        Type of the schedule of the estimator.
    """

    def __init__(self, kind):
        self.kind = kind
        self.instead = f"Set schedule={kind.__name__}(...) with this parameter instead."

    def __call__(self, name, value, params):
        """Put the value into a new schedule; that of the user stays as it is."""
        schedule, kind = params["schedule"], self.kind
        fields = {} if isinstance(schedule, str) else schedule.get_params(deep=False)
        fields[name] = value
        if isinstance(value, kind):  # a CrossValidatedSchedule was a value of gamma
            kind = type(value)
            fields |= {"candidates": value.candidates, "cv": value.cv}
        elif name != "gamma" and not isinstance(schedule, str):
            kind = type(schedule)
        accepted = kind().get_params(deep=False)
        params["schedule"] = kind(
            **{field: fields[field] for field in fields if field in accepted}
        )
