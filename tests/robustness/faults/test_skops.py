"""Models go through skops, which runs no code that its reader does not trust."""

import numpy as np
import pytest
from _instances import MODELS, answers, data, fitted, same_answers

from sklboolean import BooleanEncoder

persistence = pytest.importorskip("skops.io")

X, Y = data(40, seed=1)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back(name):
    model = fitted(name)
    data = persistence.dumps(model)
    types = persistence.get_untrusted_types(data=data)
    # Only this package and the trees of scikit-learn need trust.
    assert all(t.startswith(("sklboolean.", "sklearn.tree.")) for t in types), types
    again = persistence.loads(data, trusted=types)
    same_answers(answers(again, X), answers(model, X))
    if hasattr(model, "partial_fit"):  # and resumes training
        model.partial_fit(X, Y), again.partial_fit(X, Y)
        same_answers(answers(again, X), answers(model, X))


def test_encoders_resume_with_labels_and_levels_that_are_booleans():
    numbers = np.random.default_rng(0).normal(size=(300, 1))
    mixed = np.resize(np.array([True, False, "x"], dtype=object), (300, 1))
    samples, labels = np.hstack([numbers, mixed]), numbers[:, 0] > 0.4
    encoder = BooleanEncoder().partial_fit(samples[:99], labels[:99])
    data = persistence.dumps(encoder)
    again = persistence.loads(data, trusted=persistence.get_untrusted_types(data=data))
    for resumed in (encoder, again):
        resumed.partial_fit(samples[99:], labels[99:])
    names = encoder.get_feature_names_out().tolist()
    assert again.get_feature_names_out().tolist() == names
    assert {"x1 = True", "x1 = False"} <= {*names}
