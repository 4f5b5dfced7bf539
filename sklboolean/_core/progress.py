"""Progress of a fit: lines for ``verbose``, and scikit-learn's callbacks.

All contact with ``sklearn.callback`` is in this module. It is experimental there, and
older versions of scikit-learn do not have it.
"""

from copy import copy
from time import perf_counter

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:
        """Stand-in without ``set_callbacks``."""

    def with_callbacks(method):
        """Return the method as it is."""
        return method


# Attributes of a running fit. Its callbacks need them to end, even when it fails.
RUNNING = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")


def restore(estimator, before):
    """Give an estimator whose fit failed the attributes that it had before."""
    now = vars(estimator)
    before |= {name: now[name] for name in RUNNING if name in now}
    # One assignment: a second Ctrl-C may come at any time.
    estimator.__dict__ = before


class Progress:
    """Report each step of a fit to the user, and to the callbacks of an estimator.

    A method that makes one has the decorator `with_callbacks`.

    Parameters
    ----------
    estimator : object
        Has ``verbose``, and callbacks if `CallbackSupportMixin` gave it some.
    unit : str
        What a step is, for example "epoch".
    n_steps : int or None
        Largest number of steps; None: unknown.
    X, y : array-like or None
        The user's data, for callbacks.
    every : int
        With ``verbose=1`` only each step of so many prints a line.
    name : str or None
        What begins a line; None: the class of the estimator.
    """

    def __init__(
        self, estimator, unit, n_steps=None, X=None, y=None, *, every=1, name=None
    ):
        self.name = name or type(estimator).__name__
        self.estimator, self.unit, self.n_steps = estimator, unit, n_steps
        self.every = every if estimator.verbose == 1 else 1
        self.prints = bool(estimator.verbose)
        self.n_done, self.start, self.context = 0, perf_counter(), None
        if getattr(estimator, "_skl_callbacks", None):
            self.data = {"X": X, "y": y}
            self.context = estimator._init_callback_context(max_subtasks=n_steps)
            self.context.call_on_fit_task_begin(estimator=estimator, **self.data)

    def count(self, unit, n_steps):
        """Change what is counted, from the next step on."""
        self.unit, self.n_steps, self.n_done, self.every = unit, n_steps, 0, 1
        if self.context is not None:
            self.context.max_subtasks = None

    def is_silent(self):
        """Test if no step is reported: several steps may then be one."""
        return self.context is None and not self.prints

    def step(self, text, set_attributes=None):
        """Report that a step ended.

        Parameters
        ----------
        text : callable
            Returns what the line of this step says.
        set_attributes : callable or None
            ``set_attributes(model)`` gives a copy of the estimator the fitted
            attributes of a fit that ended here. None: it cannot be used yet.

        Returns
        -------
        stop : bool
            Whether a callback asks to stop the fit.
        """
        # A line for each step, or for every so many.
        self.n_done += 1
        if self.prints and self.n_done % self.every == 0:
            of_all = f" of {self.n_steps}" if self.n_steps else ""
            print(
                f"[{self.name}] {self.unit} {self.n_done}{of_all}, "
                f"{perf_counter() - self.start:.1f} s: {text()}"
            )
        if self.context is None:
            return False
        context = self.context.subcontext(task_name=self.unit)
        context.call_on_fit_task_begin(estimator=self.estimator, **self.data)

        # Callbacks get attributes of a copy, only if they ask for them.
        def fitted_attributes():
            model = copy(self.estimator)
            set_attributes(model)
            return vars(model)

        return context.call_on_fit_task_end(
            estimator=self.estimator,
            **self.data,
            reconstruction_attributes=set_attributes and fitted_attributes,
        )

    def finish(self):
        """Report that the fit ended and the estimator has its fitted attributes."""
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator, **self.data, reconstruction_attributes={}
            )


class NoProgress:
    """Stands in for `Progress` where nothing is reported."""

    context = None

    def count(self, unit, n_steps):
        """Do nothing."""

    def step(self, text, set_attributes=None):
        """Report nothing; the fit continues."""
        return False

    def finish(self):
        """Do nothing."""


SILENT = NoProgress()
