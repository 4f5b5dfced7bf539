"""The form in which a whole data set is handed out."""

from sklearn.utils import Bunch


def make_bunch(data, target, *, feature_names, return_X_y, as_frame, **more):
    """Return ``data`` and ``target`` as a Bunch, as a pair, or as pandas objects.

    A feature name reads ``attribute=value``; what stands before the ``=`` becomes
    the feature's group.
    """
    frame = None
    if as_frame:
        frame = _as_frame(data, target, feature_names)
        data, target = frame[feature_names], frame["target"]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=feature_names,
        feature_groups=[name.partition("=")[0] for name in feature_names],
        **more,
    )


def _as_frame(data, target, feature_names):
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas: install it, or leave as_frame=False."
        ) from error
    frame = pd.DataFrame(data, columns=feature_names)
    return frame.assign(target=target)
