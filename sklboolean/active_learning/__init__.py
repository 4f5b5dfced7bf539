"""Active learning by committees: choose the samples whose labels to query."""

import warnings

from sklboolean._core.deprecation import NEXT as _NEXT
from sklboolean.active_learning._disagreement import (
    align_probabilities,
    bayes_error_bounds,
    consensus_entropy,
    expected_information_gain,
    kl_to_consensus,
    label_entropy,
    margin_of_votes,
    pairwise_disagreement,
    top_scores,
    variation_ratio,
    vote_entropy,
    vote_shares,
)
from sklboolean.active_learning._finite_version_space import (
    FiniteVersionSpace,
    ThresholdVersionSpace,
)
from sklboolean.active_learning._halfspace_version_space import (
    GramKernel,
    HalfspaceVersionSpace,
    KernelVersionSpace,
)
from sklboolean.active_learning._query_by_committee import QueryByCommittee
from sklboolean.active_learning._strategies import CommitteePredictions

__all__ = ["CommitteePredictions", "FiniteVersionSpace", "GramKernel"]
__all__ += ["HalfspaceVersionSpace", "KernelVersionSpace", "QueryByCommittee"]
__all__ += ["ThresholdVersionSpace", "align_probabilities", "bayes_error_bounds"]
__all__ += ["consensus_entropy", "expected_information_gain", "kl_to_consensus"]
__all__ += ["label_entropy", "margin_of_votes", "pairwise_disagreement", "top_scores"]
__all__ += ["variation_ratio", "vote_entropy", "vote_shares"]


def __getattr__(name):
    """Import a function by its name in version 0.2."""
    if name != "information_gain":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        "The function 'information_gain' is deprecated. Use 'expected_information_gain'"
        f" instead. {_NEXT}",
        FutureWarning,
        stacklevel=2,
    )
    return expected_information_gain
