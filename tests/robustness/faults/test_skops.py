"""Models go through skops, which runs no code that its reader does not trust."""

import pytest
from _instances import MODELS, answers, data, fitted, same_answers

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
