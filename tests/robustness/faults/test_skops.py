"""Models go through skops, which runs no code that its reader does not trust."""

import pytest
import zoo

persistence = pytest.importorskip("skops.io")

X, Y = zoo.rows(40, seed=1)


@pytest.mark.parametrize("name", zoo.MODELS)
def test_every_model_comes_back(name):
    model = zoo.fitted(name)
    data = persistence.dumps(model)
    types = persistence.get_untrusted_types(data=data)
    # Nothing is asked for but this package and the trees of scikit-learn.
    assert all(t.startswith(("sklboolean.", "sklearn.tree.")) for t in types), types
    again = persistence.loads(data, trusted=types)
    zoo.same_answers(zoo.answers(again, X), zoo.answers(model, X))
    if hasattr(model, "partial_fit"):  # and learns on
        model.partial_fit(X, Y), again.partial_fit(X, Y)
        zoo.same_answers(zoo.answers(again, X), zoo.answers(model, X))
