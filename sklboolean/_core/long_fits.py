"""One sentence before a long fit: what it will cost, and what to take instead."""

from sklboolean._core.validation import warn_user

# Seconds on one core from which on a fit is long.
LONG = 60.0


def warn_of_long_fit(estimator, seconds, instead):
    """Warn before a fit that is expected to take longer than a minute of one core.

    Parameters
    ----------
    estimator : estimator
    seconds : float
        What the fit takes on one core, as measured on noisy samples with AVX2.
    instead : str
        Estimators and parameters that are faster, as the end of a sentence.
    """
    if seconds > LONG:
        minutes, hours = round(seconds / 60), round(seconds / 3600)
        time = f"{hours} hours" if minutes > 90 else f"{minutes} minutes"
        time = "1 minute" if minutes <= 1 else time
        warn_user(
            f"{type(estimator).__name__} will take about {time} on one core for these "
            f"samples; to be faster, take {instead}."
        )
