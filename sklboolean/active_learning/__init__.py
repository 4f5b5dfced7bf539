"""Active learning by committees: which rows are worth a label."""

from sklboolean.active_learning._disagreement import (
    consensus_entropy,
    kl_to_consensus,
    margin_of_votes,
    pairwise_disagreement,
    top_scores,
    variation_ratio,
    vote_entropy,
)
from sklboolean.active_learning._finite import (
    FiniteVersionSpace,
    build_finite_space,
)
from sklboolean.active_learning._gram import GramKernel
from sklboolean.active_learning._halfspaces import HalfspaceVersionSpace
from sklboolean.active_learning._information import (
    bayes_error_bounds,
    information_gain,
    label_entropy,
)
from sklboolean.active_learning._kernel_space import KernelVersionSpace
from sklboolean.active_learning._query_by_committee import QueryByCommittee
from sklboolean.active_learning._thresholds import ThresholdVersionSpace
from sklboolean.active_learning._votes import align_probabilities, vote_shares

__all__ = [
    "FiniteVersionSpace",
    "GramKernel",
    "HalfspaceVersionSpace",
    "KernelVersionSpace",
    "QueryByCommittee",
    "ThresholdVersionSpace",
    "align_probabilities",
    "bayes_error_bounds",
    "build_finite_space",
    "consensus_entropy",
    "information_gain",
    "kl_to_consensus",
    "label_entropy",
    "margin_of_votes",
    "pairwise_disagreement",
    "top_scores",
    "variation_ratio",
    "vote_entropy",
    "vote_shares",
]
