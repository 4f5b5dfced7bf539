"""Small real data sets that come with the package."""

from importlib.resources import files

import numpy as np
from sklearn.utils import Bunch

_MUSHROOM = """\
Mushroom

8124 hypothetical specimens of 23 species of gilled mushrooms (Agaricus and
Lepiota), described by 22 nominal attributes; the task is to classify them as poisonous
(3916, which include those of unknown edibility) or edible (4208).

Columns: one for each attribute and value that occurs, 117 in all, so that every
sample has exactly 22 ones. The letter codes of the original are spelled out
(odor=foul). A stalk root that was not recorded is a value of its own,
stalk-root=missing. Samples keep the order of the original.

Origin: records drawn from The Audubon Society Field Guide to North American
Mushrooms (G. H. Lincoff, 1981), donated by J. Schlimmer. Mushroom [data set],
1981, UCI Machine Learning Repository, https://doi.org/10.24432/C5959T.
Licence: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/.
Changes: the attributes are coded as one column for each value.
"""

_VOTES = """\
Congressional voting records

The votes of the 435 members of the U.S. House of Representatives on 16 questions
of 1984; the task is to classify them as Republicans (168) or Democrats (267).

Columns: three for each question (no, yes, unknown), 48 in all, so that every
sample has exactly 16 ones. "unknown" means that the position was neither for nor
against: the member voted "present" or did not vote. Samples keep the order of the
original.

Origin: Congressional Quarterly Almanac, 98th Congress, 2nd session, 1984, donated
by J. Schlimmer. Congressional Voting Records [data set], 1987, UCI Machine
Learning Repository, https://doi.org/10.24432/C5C01P.
Licence: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/.
Changes: the attributes are coded as one column for each value.
"""

_RECURRENCE = """\
Breast cancer recurrence

286 patients of the Institute of Oncology in Ljubljana, described by nine attributes;
the task is to predict whether the cancer came back (85 patients) or not (201).

Columns: age in years, size of the tumour in mm, number of affected axillary lymph
nodes, degree of malignancy (1, 2 or 3): numbers. Menopause, whether the tumour broke
through the capsule of a node, breast, quadrant of the breast, irradiation: categories.
Nine values are missing. The original gives age, size and nodes as intervals, such as
40-49; the number is the middle of the interval. Samples keep the order of the original.

Origin: collected by M. Zwitter and M. Soklic, University Medical Centre, Institute of
Oncology, Ljubljana. Breast Cancer [data set], 1988, UCI Machine Learning Repository,
https://doi.org/10.24432/C51P4M.
Licence: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/.
Changes: codes are spelled out; an interval becomes its middle.
"""


def load_mushroom(*, return_X_y=False, as_frame=False):
    """Load the mushroom data set: edible or poisonous (classification).

    Parameters
    ----------
    return_X_y : bool, default=False
        True: return ``(data, target)``. False: return a Bunch.
    as_frame : bool, default=False
        True: ``data`` is a DataFrame and ``target`` a Series. Needs pandas.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        A Bunch with the attributes

        data : ndarray of shape (8124, 117), dtype uint8
            One 0/1 column for each value of each attribute.
        target : ndarray of shape (8124,), dtype int64
            0 for edible, 1 for poisonous.
        frame : DataFrame of shape (8124, 118) or None
            ``data`` and ``target`` in one DataFrame, if ``as_frame=True``.
        feature_names : list of 117 str
            ``"attribute=value"``, such as ``"odor=foul"``.
        feature_groups : list of 117 str
            The attribute that each column belongs to.
        target_names : ndarray of 2 str
            ``["edible", "poisonous"]``.
        DESCR : str
            Origin, coding and licence.
    (data, target) : tuple
        Only ``data`` and ``target``, if ``return_X_y=True``.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    .. [1] Mushroom [data set] (1981). UCI Machine Learning Repository.
       https://doi.org/10.24432/C5959T

    Examples
    --------
    Mushrooms with a foul odor are always poisonous:

    >>> from sklboolean.datasets import load_mushroom
    >>> mushroom = load_mushroom()
    >>> foul = mushroom.data[:, mushroom.feature_names.index("odor=foul")] == 1
    >>> print(*set(mushroom.target_names[mushroom.target[foul]]))
    poisonous
    """
    return _load("mushroom.npz", _MUSHROOM, return_X_y, as_frame)


def load_recurrence(*, return_X_y=False, as_frame=False):
    """Load the breast cancer recurrence data set: a mixed table (classification).

    Unlike the other data sets, its columns are numbers with units and categories, and
    some values are missing. :class:`~sklboolean.BooleanEncoder` makes Boolean features
    of them.

    Parameters
    ----------
    return_X_y : bool, default=False
        True: return ``(data, target)``. False: return a Bunch.
    as_frame : bool, default=False
        True: ``data`` is a DataFrame and ``target`` a Series. Needs pandas.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        A Bunch with the attributes

        data : ndarray of shape (286, 9), dtype object
            Numbers, texts, and None where a value is missing.
        target : ndarray of shape (286,), dtype int64
            0 for no recurrence, 1 for recurrence.
        frame : DataFrame of shape (286, 10) or None
            ``data`` and ``target`` in one DataFrame, if ``as_frame=True``.
        feature_names : list of 9 str
            With the unit, such as ``"tumour size (mm)"``.
        target_names : ndarray of 2 str
            ``["no recurrence", "recurrence"]``.
        DESCR : str
            Origin, coding and licence.
    (data, target) : tuple
        Only ``data`` and ``target``, if ``return_X_y=True``.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    .. [1] Zwitter, M. and Soklic, M. Breast Cancer [data set] (1988). UCI Machine
       Learning Repository. https://doi.org/10.24432/C51P4M

    Examples
    --------
    >>> from sklboolean.datasets import load_recurrence
    >>> X = load_recurrence(as_frame=True).data
    >>> print(X.iloc[0].to_string())
    age (years)                44.5
    menopause               not yet
    tumour size (mm)           17.0
    affected lymph nodes        1.0
    capsule broken              yes
    malignancy (1 to 3)           3
    breast                    right
    quadrant                left up
    irradiated                   no
    """
    path = files("sklboolean.datasets").joinpath("data", "recurrence.npz")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        names = stored["feature_names"].tolist()
        table = stored["table"].astype(str)
        target = stored["target"].astype(np.int64)
        target_names = stored["target_names"]
    # Empty texts are missing values; intervals such as 40-49 become their middle.
    data = np.where(table == "", None, table.astype(object))
    for j, name in enumerate(names):
        if name in ("age (years)", "tumour size (mm)", "affected lymph nodes"):
            low, high = np.char.partition(table[:, j], "-")[:, ::2].T.astype(int)
            data[:, j] = (low + high) / 2
        elif name == "malignancy (1 to 3)":
            data[:, j] = table[:, j].astype(int)
    frame = None
    if as_frame:
        frame = _as_frame(data, target, names).infer_objects()
        data, target = frame[names], frame["target"]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=names,
        target_names=target_names,
        DESCR=_RECURRENCE,
    )


def load_votes(*, return_X_y=False, as_frame=False):
    """Load the congressional votes of 1984: Democrats or Republicans (classification).

    Parameters
    ----------
    return_X_y : bool, default=False
        True: return ``(data, target)``. False: return a Bunch.
    as_frame : bool, default=False
        True: ``data`` is a DataFrame and ``target`` a Series. Needs pandas.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        A Bunch with the attributes

        data : ndarray of shape (435, 48), dtype uint8
            Three 0/1 columns for each question: no, yes, unknown.
        target : ndarray of shape (435,), dtype int64
            0 for democrat, 1 for republican.
        frame : DataFrame of shape (435, 49) or None
            ``data`` and ``target`` in one DataFrame, if ``as_frame=True``.
        feature_names : list of 48 str
            ``"question=answer"``, such as ``"immigration=yes"``.
        feature_groups : list of 48 str
            The question that each column belongs to.
        target_names : ndarray of 2 str
            ``["democrat", "republican"]``.
        DESCR : str
            Origin, coding and licence.
    (data, target) : tuple
        Only ``data`` and ``target``, if ``return_X_y=True``.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    .. [1] Congressional Voting Records [data set] (1987). UCI Machine Learning
       Repository. https://doi.org/10.24432/C5C01P

    Examples
    --------
    One question nearly determines the party:

    >>> from sklboolean.datasets import load_votes
    >>> votes = load_votes()
    >>> freeze = votes.data[:, votes.feature_names.index("physician-fee-freeze=yes")]
    >>> print(f"{(freeze == votes.target).mean():.3f}")
    0.956
    """
    return _load("votes.npz", _VOTES, return_X_y, as_frame)


def _load(filename, description, return_X_y, as_frame):
    path = files("sklboolean.datasets").joinpath("data", filename)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        feature_names = stored["feature_names"].tolist()
        # A file holds a bit for each value, and no pickled objects.
        data = np.unpackbits(stored["packed"], axis=1, count=len(feature_names))
        return make_bunch(
            np.ascontiguousarray(data),
            stored["target"].astype(np.int64),
            feature_names=feature_names,
            target_names=stored["target_names"],
            DESCR=description,
            return_X_y=return_X_y,
            as_frame=as_frame,
        )


def make_bunch(data, target, *, feature_names, return_X_y, as_frame, **more):
    """Build a Bunch, a pair ``(data, target)``, or pandas objects.

    Feature names have the form ``attribute=value``; the attribute is the group of the
    feature.
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
            "as_frame=True needs pandas. Install it with `pip install pandas`, or set "
            "as_frame=False."
        ) from error
    frame = pd.DataFrame(data, columns=feature_names)
    return frame.assign(target=target)
