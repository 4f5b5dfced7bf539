"""Active learning by committees: which rows are worth a label."""

from sklboolean.committee.disagreement import (
    consensus_entropy,
    kl_to_consensus,
    margin_of_votes,
    pairwise_disagreement,
    top_scores,
    variation_ratio,
    vote_entropy,
)
from sklboolean.committee.finite import (
    FiniteVersionSpace,
    build_finite_space,
)
from sklboolean.committee.gram import GramKernel
from sklboolean.committee.halfspaces import HalfspaceVersionSpace
from sklboolean.committee.information import (
    bayes_error_bounds,
    information_gain,
    label_entropy,
)
from sklboolean.committee.kernel_space import KernelVersionSpace
from sklboolean.committee.query import QueryByCommittee
from sklboolean.committee.thresholds import ThresholdVersionSpace
from sklboolean.committee.votes import align_probabilities, vote_shares

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
