"""Active learning by committees: choose the samples whose labels to query."""

from sklboolean.active_learning._disagreement import (
    align_probabilities,
    bayes_error_bounds,
    consensus_entropy,
    information_gain,
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
__all__ += ["consensus_entropy", "information_gain", "kl_to_consensus", "label_entropy"]
__all__ += ["margin_of_votes", "pairwise_disagreement", "top_scores", "variation_ratio"]
__all__ += ["vote_entropy", "vote_shares"]
