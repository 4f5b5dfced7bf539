"""Votes of fitted hypotheses on pieces of a stream."""

import numpy as np
from scipy import sparse

from sklboolean.boosting._board import Board
from sklboolean.boosting._stump import BooleanStump
from sklboolean.boosting._weak_learners import as_codes


def open_board(X, codes, hypotheses, classes):
    """Return a board for rows with the votes of hypotheses."""
    return count_votes(Board(codes, len(classes)), X, hypotheses, classes)


def count_votes(board, X, hypotheses, classes):
    """Count the votes of hypotheses that have not voted yet, and return the board."""
    for hypothesis in hypotheses[board.n_votes :]:
        board.add(predict_codes(hypothesis, X, classes))
    return board


def join_rows(parts):
    """Join parts of a batch, pairs of a table and its codes."""
    tables, codes = zip(*parts, strict=True)
    if any(sparse.issparse(table) for table in tables):
        X = sparse.vstack([sparse.csr_array(table) for table in tables], format="csr")
    else:
        X = np.concatenate(tables)
    return X, np.concatenate(codes)


def predict_codes(hypothesis, X, classes):
    """Return the class numbers that a fitted hypothesis predicts.

    Parameters
    ----------
    hypothesis : fitted classifier
    X : ndarray or sparse array of shape (n_samples, n_features)
        Checked.
    classes : ndarray of shape (n_classes,)
    """
    is_stump = type(hypothesis) is BooleanStump and hypothesis.binarize is not None
    if not is_stump or sparse.issparse(X):
        return as_codes(hypothesis.predict(X), classes)
    # One column decides; `predict` would check them all, again for each stump.
    codes = as_codes(hypothesis.side_classes_, classes)
    if hypothesis.feature_ < 0:
        return np.full(X.shape[0], codes[0])
    column = X[:, hypothesis.feature_].astype(np.float64)
    return codes[(column > hypothesis.binarize).astype(np.intp)]
