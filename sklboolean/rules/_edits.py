"""Models that a person edits: how terms are named, and what an edit costs."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from numbers import Integral

from sklearn.base import is_classifier
from sklearn.metrics import log_loss, mean_squared_error

from sklboolean._core.feature_names import FeatureNames
from sklboolean._core.formulas import conjunction_text, feature_names_of
from sklboolean._core.weights import check_sample_weight


def listed(given, name):
    """List the terms that a user names: several, or a single one."""
    if isinstance(given, str | Integral):
        return [given]
    if isinstance(given, Mapping) or not isinstance(given, Collection):
        raise ValueError(
            f"{name} must be a text, a number, or a list of them; got {given!r}."
        )
    return list(given)


class EditedMixin:
    """Base of the methods that return an edited model."""

    edit_losses_ = None

    def _named_term(self, given, terms, *, may_be_new=True):
        """Read a conjunction that a user names.

        Parameters
        ----------
        given : str or int
            The text of a rule, or a number in ``terms``.
        terms : list of tuples of (feature, value) pairs
        may_be_new : bool
            Whether a text may be a conjunction outside ``terms``.

        Returns
        -------
        term : tuple of (feature, value) pairs
        """
        if not isinstance(given, str):
            is_number = isinstance(given, Integral) and not isinstance(given, bool)
            if is_number and 0 <= given < len(terms):
                return terms[given]
            raise ValueError(
                f"{given!r} is neither the text of a conjunction (rule.to_text()) nor "
                f"the number of one of the {len(terms)} in the model, counted from 0."
            )
        names = feature_names_of(self)
        term_by_text = {conjunction_text(term, names): term for term in terms}
        if given in term_by_text:
            return term_by_text[given]
        term = FeatureNames(names).literals(given)
        if may_be_new or term in terms:
            return term
        near = " or ".join(map(repr, get_close_matches(given, term_by_text)))
        hint = f"Did you mean {near}? " if near else ""
        raise ValueError(
            f"The model has no conjunction {given!r}. {hint}rules_ lists those that it "
            "has; to_text merges the bounds of a column."
        )

    def _compare(self, edited, X, y, sample_weight):
        """Keep the losses of this model and of the edited one, and return the latter.

        The log-loss of classifiers, the squared error of regressors.
        """
        options = {"sample_weight": check_sample_weight(sample_weight, len(y))}
        measure, method = mean_squared_error, "predict"
        if is_classifier(self):
            measure, method = log_loss, "predict_proba"
            options["labels"] = self.classes_
        edited.edit_losses_ = tuple(
            measure(y, getattr(model, method)(X), **options) for model in (self, edited)
        )
        return edited
