"""Calibration: scores of held-out samples, and the slope that makes them probabilities.

The scores were computed before training on their samples.
"""

from math import exp, sqrt, tanh

import numpy as np
from scipy.special import expit, softmax

from sklboolean._core.damage import require

N_CALIBRATION_SCORES = 1000  # of a stream, the last ones
N_SCALE_SCORES = 250  # for the ratio of two models' mean absolute scores
LARGEST_LOG_SLOPE = 12  # for scores of size 1
SMALLEST = np.nextafter(0.0, 1.0)


def break_ties(scores, *, positive=True):
    """Replace scores of 0 by the smallest float of the side that a tie predicts."""
    return np.where(scores == 0, SMALLEST if positive else -SMALLEST, scores)


def predicted_codes(scores, *, tie=0):
    """Number the class that scores predict: the one rule for ties.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_scores)
        One score of each sample is for the second of two classes. Of more, the first of
        the largest wins.
    tie : {0, 1}
        The class that a single score of 0 predicts.

    Returns
    -------
    codes : ndarray of shape (n_samples,), int
    """
    if scores.ndim == 2:
        if scores.shape[1] > 1:
            return scores.argmax(axis=1)
        require(scores.shape[1], "it has no scores")
        scores = scores[:, 0]
    return (scores >= 0 if tie else scores > 0).astype(np.intp)


def places_in_class(codes):
    """Count for each sample the earlier ones of its class."""
    order, counts = np.argsort(codes, kind="stable"), np.bincount(codes)
    earlier = np.empty(len(codes), dtype=np.int64)
    earlier[order] = np.arange(len(codes)) - (np.cumsum(counts) - counts)[codes[order]]
    return earlier


def held_out_parts(codes, weights, n_parts=4, number=0):
    """Split distinct samples: a part for a second model, the others to calibrate it.

    Of each class every ``n_parts``-th sample is for the second model. A sample of
    weight ``n_parts`` or more goes to both sides, as some of its copies would: new data
    have it too.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
        Class numbers. The samples are in an order that says nothing about them.
    weights : ndarray of shape (n_samples,), float64
        Numbers of copies, above 0. Where the mean is below 1, it counts as 1.
    n_parts : int, default=4
    number : int, default=0
        Number of the part that is for the second model; 0 has the first sample of each
        class.

    Returns
    -------
    training, testing : ndarrays of shape (n_samples,), float64
        Parts of the weights. ``testing`` is 0 from the 1001st sample on.
    """
    is_own = places_in_class(codes) % n_parts == number
    copies = weights / min(1.0, weights.mean())
    share = np.where(copies < n_parts, is_own, (copies + number) // n_parts / copies)
    training, testing = weights * share, weights * (1 - share)
    testing[np.flatnonzero(testing)[N_CALIBRATION_SCORES:]] = 0.0
    return training, testing


def fit_slope(scores, codes, weights=None):
    """Fit A > 0 so that sigmoid(A f), or softmax(A f), has the smallest log loss.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Held-out scores.
    codes : ndarray of shape (n_samples,), int
        Class numbers.
    weights : ndarray of shape (n_samples,) or None
        Sample weights; None: 1.

    Returns
    -------
    slope : float
        The prior is two imagined samples, one classified correctly and one not, so
        that perfectly separated scores give a finite slope. 1 when all scores are 0,
        or when there are none.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if not len(scores):
        return 1.0
    weights = np.ones(len(scores)) if weights is None else weights
    typical = float((weights @ np.abs(scores)).mean() / weights.sum())
    # Scores that are all 0, or the smallest float in place of 0 (a tie), have no scale.
    if not typical > np.finfo(np.float64).tiny:
        return 1.0
    # gains is the slope of the loss at 0, squares its curvature for two classes; leads
    # is how far the own class leads: shape (n,) or (n, n_classes).
    scaled = scores / typical
    if scores.ndim == 1:
        leads = np.where(codes == 1, scaled, -scaled)
        gains, squares = weights * leads, weights * leads**2
    else:
        leads = scaled[np.arange(len(codes)), codes][:, None] - scaled
        gains = weights * leads.mean(axis=1)

    # The loss is convex in the slope: Newton's method, with bisection of the logarithm
    # where it would leap too far.
    low, high = exp(-LARGEST_LOG_SLOPE), exp(LARGEST_LOG_SLOPE)
    if gains.sum() <= 0:  # the loss rises from 0 on
        return low / typical
    slope = 1.0
    for _ in range(100):
        if scores.ndim == 1:
            wrong = expit(-slope * leads)
            first, second = -(gains @ wrong), squares @ (wrong - wrong**2)
        else:
            shares = softmax(-slope * leads, axis=1)
            mean_leads = (shares * leads).sum(axis=1)
            first = -(weights @ mean_leads)
            second = weights @ ((shares * leads**2).sum(axis=1) - mean_leads**2)
        imagined = tanh(slope / 2)
        first += imagined
        second += (1 - imagined**2) / 2
        low, high = (slope, high) if first < 0 else (low, slope)
        step = slope - first / second if second > 0 else low
        step = step if low < step < high else sqrt(low * high)
        slope, last = step, slope
        if abs(slope - last) <= 1e-5 * last:  # Newton's next step is its square
            break
    return float(slope / typical)


def probabilities(scores, slope):
    """Compute class probabilities of shape (n_samples, n_classes) from scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
    slope : float
    """
    if scores.ndim == 1:
        shares = np.column_stack([expit(-slope * scores), expit(slope * scores)])
        # A tie that predicts the second class: its probability is the larger one.
        shares[(scores > 0) & (shares[:, 1] == 0.5), 1] = np.nextafter(0.5, 1)
        return shares
    return softmax(slope * scores, axis=1)


def calibrated_loss(scores, codes, weights):
    """Compute the mean log-loss of held-out scores with the slope that fits them.

    Parameters
    ----------
    scores, codes, weights
        As for `fit_slope`.
    """
    shares = probabilities(scores, fit_slope(scores, codes, weights))
    label_shares = np.maximum(shares[np.arange(len(codes)), codes], SMALLEST)
    return float(-np.average(np.log(label_shares), weights=weights))


def last_scored(samples, sample_weight, n_samples):
    """Choose the last samples of a part of a stream, and their weights.

    ``samples`` and ``sample_weight`` may be None: all samples, weights of 1.
    """
    samples = np.arange(n_samples) if samples is None else samples
    last = samples[-N_CALIBRATION_SCORES:]
    weights = np.ones(len(last)) if sample_weight is None else sample_weight[last]
    return last, weights


def add_held_out(earlier, held_out, n_seen):
    """Add held-out scores, class numbers and weights to those earlier in a stream.

    At most those of the last quarter of the stream of ``n_seen`` samples are kept:
    earlier models are poor.
    """
    n_kept = min(N_CALIBRATION_SCORES, n_seen // 4 + 1)
    pairs = zip(earlier, held_out, strict=True)
    return tuple(np.concatenate(pair)[-n_kept:] for pair in pairs)


def one_of_each_few(samples, codes, step, rng):
    """Choose one of each ``step`` consecutive samples of a class, the first included.

    Parameters
    ----------
    samples : ndarray of shape (n_samples,), int
        Sample numbers.
    codes : ndarray of shape (n_samples,), int
        Their class numbers.
    step : int
    rng : Generator

    Returns
    -------
    chosen, others : ndarrays of int
        Sample numbers, sorted by class.
    """
    # Short codes are sorted quickly.
    short = codes.astype(np.min_scalar_type(codes.max() + 1))
    samples = samples[np.argsort(short, kind="stable")]
    counts = np.bincount(codes)
    chosen = rng.integers(step, size=counts.max() // step + 1)
    chosen[0] = 0
    is_chosen = np.zeros(len(samples), dtype=bool)
    for start, count in zip(np.cumsum(counts) - counts, counts, strict=True):
        places = np.arange(0, count, step)
        places += chosen[: len(places)]
        is_chosen[start + places[places < count]] = True
    return samples[is_chosen], samples[~is_chosen]


def every_few(samples, rng):
    """Choose one of each few samples, `N_CALIBRATION_SCORES` or fewer."""
    step = len(samples) // N_CALIBRATION_SCORES + 1
    if step == 1:
        return samples
    starts = np.arange(0, len(samples) - step + 1, step)
    return samples[starts + rng.integers(step, size=len(starts))]


def to_scale_of(scores, second_scores):
    """Bring scores of a second model to the scale of a model, and drop the shared ones.

    Parameters
    ----------
    scores : ndarray of shape (n_shared,) or (n_shared, n_classes)
        The model's, of samples that both were trained on.
    second_scores : ndarray of shape (n_shared + n_samples, ...)
        The second model's, of the same samples and then of others.

    Returns
    -------
    scaled : ndarray of shape (n_samples, ...)
        Multiplied by the ratio of the mean absolute scores of the shared samples.
    """
    n_shared = len(scores)
    scale = np.abs(scores).mean()
    second_scale = np.abs(second_scores[:n_shared]).mean()
    others = second_scores[n_shared:]
    if min(scale, second_scale) > np.finfo(np.float64).tiny:
        others = others * (scale / second_scale)
    return others
