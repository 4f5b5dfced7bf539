"""Converters: fitted estimators as ONNX graphs."""

from numbers import Real

import numpy as np

from sklboolean._core.formula import FirstRule, Members
from sklboolean.onnx._graph import DOUBLE, FLOAT, INT64, Graph
from sklboolean.preprocessing._derived_columns import refuse_by_type
from sklboolean.preprocessing._encoded_columns import NumberColumn, OrderedColumn


def data_types():
    """Import the types of variables; models can be used without skl2onnx."""
    from skl2onnx.common import data_types as types

    return types


# Predicted labels


def classifier_shapes(operator):
    """Set the types of the labels and of the probabilities."""
    model = operator.raw_operator
    n_samples = operator.inputs[0].get_first_dimension()
    types = data_types()
    label_type = types.StringTensorType
    if is_integer(model):
        label_type = types.Int64TensorType
    operator.outputs[0].type = label_type([n_samples])
    shape = [n_samples, len(model.classes_)]
    operator.outputs[1].type = number_type(operator)(shape)


def number_type(operator):
    """Choose float64 for an input of float64, else float32."""
    types = data_types()
    if isinstance(operator.inputs[0].type, types.DoubleTensorType):
        return types.DoubleTensorType
    return types.FloatTensorType


def is_integer(model):
    """Test whether the labels are integers or bools, not text."""
    labels = model.classes_
    if labels.dtype.kind in "biu":
        return True
    if all(isinstance(label, str) for label in labels):
        return False
    raise NotImplementedError(
        f"ONNX has labels of text or integers; {type(model).__name__} was fitted with "
        f"{labels.tolist()}. Fit it with such labels."
    )


def read_formula(model):
    """Return the formula of a model; one without conjunctions is an error."""
    formula = model._formula()
    if formula is None or isinstance(formula, Members):
        raise NotImplementedError(
            f"This {type(model).__name__} is not made of conjunctions, so it cannot be "
            "converted. Boost stumps, which is the default; a ConsistentHalfspace "
            "needs solver='linprog'."
        )
    return formula


def convert_classifier(scope, operator, container):
    """Write a model of conjunctions, or a linear one, with its probabilities."""
    model, graph = operator.raw_operator, Graph(scope, container)
    formula = read_formula(model)
    # Models around this one, such as those that calibrate, ask for its scores.
    wants_scores = container.get_options(model, {}).get("raw_scores", False)
    wants_scores &= hasattr(model, "decision_function")
    write = write_rules if isinstance(formula, FirstRule) else write_sum
    codes, numbers = write(graph, operator, formula, wants_scores)
    labels = model.classes_
    labels = labels.astype(np.int64) if is_integer(model) else labels.astype(str)
    graph.node("Gather", labels, codes, output=operator.outputs[0].full_name)
    write_numbers(graph, numbers, operator.outputs[1])


def write_rules(graph, operator, formula, wants_scores):
    """Write the class that the first rule decides, and its probabilities or scores."""
    bits = read_bits(graph, operator.inputs, formula.columns.binarize)
    satisfied = graph.held(bits, [*formula.terms, ()])
    first_rule = graph.node("ArgMax", satisfied, axis=1, keepdims=0)
    labels = [*formula.labels, formula.default]
    codes = np.array([formula.classes.index(label) for label in labels], dtype=np.int64)
    codes = graph.node("Gather", codes, first_rule)
    table = scores_of_rules(formula) if wants_scores else formula.probabilities
    return codes, graph.node("Gather", np.ascontiguousarray(table), first_rule)


def scores_of_rules(formula):
    """Return the scores of each rule: of both classes where there are two."""
    if formula.scores is None:
        raise NotImplementedError(
            "The scores of ConjunctionClassifier count literals; no converter does. "
            "Convert it alone, or give another estimator to the model around it."
        )
    scores = formula.scores
    return scores if scores.ndim == 2 else np.stack([-scores, scores], axis=1)


def write_sum(graph, operator, formula, wants_scores):
    """Write the class of the largest sum, and the probabilities or scores."""
    scores = class_scores(graph, operator, formula)
    is_single = len(formula.classes) == 2
    if is_single:
        # The formula says which class a score of 0 predicts.
        kind = "GreaterOrEqual" if formula.tie else "Greater"
        codes = graph.cast(graph.node(kind, scores, np.zeros((1, 1))), INT64)
        codes = graph.node("Reshape", codes, np.array([-1], dtype=np.int64))
    else:
        codes = graph.node("ArgMax", scores, axis=1, keepdims=0)
    if not wants_scores:
        return codes, probabilities(graph, scores, formula)
    sides = [graph.node("Neg", scores), scores] if is_single else [scores]
    return codes, graph.join(sides)


def write_numbers(graph, tensor, variable):
    """Write numbers to an output, in its type."""
    is_float = isinstance(variable.type, data_types().FloatTensorType)
    graph.cast(tensor, FLOAT if is_float else DOUBLE, output=variable.full_name)


def read_bits(graph, variables, binarize):
    """Put input variables side by side, as zeros and ones."""
    if not isinstance(binarize, Real):
        return graph.numbers(variables)
    threshold = np.full((1, 1), float(binarize))
    above = graph.node("Greater", graph.numbers(variables), threshold)
    return graph.cast(above, DOUBLE)


def class_scores(graph, operator, formula):
    """Compute the scores: of the second class, or of each where there are more."""
    terms = values_of_terms(graph, operator, formula)
    weights = np.ascontiguousarray(formula.weights.T)
    scores = graph.node("MatMul", terms, weights)
    scores = graph.node("Add", scores, formula.intercepts[None])
    # Votes are divided by their number.
    n_votes = formula.divisors
    if n_votes is None:
        return scores
    if formula.games is None:
        return graph.node("Div", scores, n_votes[None])
    # Games of one class against one: as in `WeightedSum.scores`.
    z = graph.node("Div", scores, np.sqrt(n_votes)[None])
    root = graph.node("Add", graph.node("Mul", z, z), np.ones((1, 1)))
    won = graph.node("Div", z, graph.node("Sqrt", root))
    n_classes = len(formula.classes)
    # A matrix adds each share to one class and subtracts it from the other.
    shares = np.zeros((len(n_votes), n_classes))
    for k, game in enumerate(formula.games):
        shares[k, list(game)] = -1 / (n_classes - 1), 1 / (n_classes - 1)
    return graph.node("MatMul", won, shares)


def values_of_terms(graph, operator, formula):
    """Compute the conjunctions of each sample, or the features of a linear model."""
    terms, binarize = list(formula.terms), formula.columns.binarize
    if not terms:
        return graph.held(read_bits(graph, operator.inputs, 0.0), [()])
    bits = read_bits(graph, operator.inputs, binarize)
    # Single features that must be true need no sums.
    if all(len(term) == 1 and term[0][1] for term in terms):
        return graph.columns(bits, [term[0][0] for term in terms])
    return graph.held(bits, terms)


def probabilities(graph, scores, formula):
    """Map scores to probabilities, as `WeightedSum.evaluate` does."""
    slope = np.full((1, 1), float(formula.slope))
    scaled = graph.node("Mul", scores, slope)
    if len(formula.classes) > 2:
        return graph.node("Softmax", scaled, axis=1)
    sides = [graph.node("Neg", scaled), scaled]
    return graph.join([graph.node("Sigmoid", side) for side in sides])


# Predicted numbers


def regressor_shapes(operator):
    """Set the type of the predictions."""
    n_samples = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = number_type(operator)([n_samples, 1])


def convert_regressor(scope, operator, container):
    """Write a sum of weights of conjunctions."""
    model, graph = operator.raw_operator, Graph(scope, container)
    scores = class_scores(graph, operator, read_formula(model))
    write_numbers(graph, scores, operator.outputs[0])


# Transformers


def transformer_shapes(operator):
    """Set the type of the features, zeros and ones."""
    model = operator.raw_operator
    n_samples = operator.inputs[0].get_first_dimension()
    n_features = len(model.get_feature_names_out())
    operator.outputs[0].type = number_type(operator)([n_samples, n_features])


def convert_features(scope, operator, container):
    """Write the conjunctions of `ConjunctionFeatures`."""
    model, graph = operator.raw_operator, Graph(scope, container)
    literals = model.literals_.tocsr()
    # Row k of the CSR matrix holds the literals of conjunction k: 1 or -1.
    rows = np.split(np.arange(literals.nnz), literals.indptr[1:-1])
    terms = [
        [(int(literals.indices[k]), bool(literals.data[k] > 0)) for k in row]
        for row in rows
    ]
    bits = read_bits(graph, operator.inputs, model.binarize)
    write_numbers(graph, graph.held(bits, terms), operator.outputs[0])


def convert_encoder(scope, operator, container):
    """Write the conditions of `BooleanEncoder` on columns of numbers and of text."""
    model, graph = operator.raw_operator, Graph(scope, container)
    propagates = model.missing == "propagate"
    refuse_by_type(model._formula(), "ONNX cannot read", NotImplementedError)
    conditions_by_column = []
    for number, fitted in enumerate(model._formula()):
        # Constant columns have no features.
        if not fitted.n_conditions:
            continue
        column, is_text = read_column(graph, operator.inputs, number)
        if is_text and (fitted.indicates_missing or propagates):
            refuse_empty_text(fitted)
        if isinstance(fitted, OrderedColumn):
            conditions, missing = ordered_conditions(graph, column, fitted, is_text)
        elif isinstance(fitted, NumberColumn):
            if is_text:
                raise NotImplementedError(
                    f"Column {fitted.name!r} held numbers in fit, but its type in the "
                    "graph is text. Give initial_types with a number type for it."
                )
            conditions, missing = number_conditions(graph, column, fitted)
        elif is_text:
            conditions, missing = text_conditions(graph, column, fitted)
        else:
            conditions, missing = level_conditions(graph, column, fitted)
        if propagates:
            conditions = graph.node(
                "Where", missing, np.full((1, 1), np.nan), conditions
            )
        conditions_by_column.append(conditions)
    write_numbers(graph, graph.join(conditions_by_column), operator.outputs[0])


def read_column(graph, variables, number):
    """Select a column of the input; numbers become float64."""
    # Find the variable that holds the column; each variable holds some of them.
    for variable in variables:
        n_columns = variable.type.shape[1]
        if number < n_columns:
            break
        number -= n_columns
    name = variable.full_name
    is_text = isinstance(variable.type, data_types().StringTensorType)
    if n_columns > 1:
        name = graph.columns(name, [number])
    return (name if is_text else graph.cast(name, DOUBLE)), is_text


def number_conditions(graph, column, fitted):
    """Compare a column of numbers with its thresholds."""
    fitted.require_floats("The number of a graph")
    kinds = {"<=": "LessOrEqual", ">": "Greater"}
    thresholds = fitted.thresholds.astype(np.float64)[None]
    missing, is_code = graph.node("IsNaN", column), {}
    for code in fitted.index:  # special codes satisfy no bound
        is_code[code] = graph.node("Equal", column, np.full((1, 1), float(code)))
        column = graph.node("Where", is_code[code], np.full((1, 1), np.nan), column)
    conditions = [
        graph.node(kinds[relation], column, thresholds) for relation in fitted.relations
    ] * bool(thresholds.size)
    conditions += [is_code[code] for code in fitted.special]
    conditions += [missing] * fitted.indicates_missing
    return graph.join(
        [graph.cast(condition, DOUBLE) for condition in conditions]
    ), missing


def level_conditions(graph, column, fitted):
    """Compare a column of numbers with its levels."""
    levels = [*fitted.levels, *fitted.rare]
    if any(isinstance(level, str) for level in levels):
        raise NotImplementedError(
            f"Column {fitted.name!r} holds text, {levels[0]!r} for example, but its "
            "type in the graph is a number. Give initial_types with StringTensorType "
            "for it."
        )
    level_numbers = np.array(levels, dtype=np.float64)
    if any(isinstance(level, int) and abs(level) >= 2**53 for level in levels):
        raise NotImplementedError(
            f"Column {fitted.name!r} has levels that a float of the graph cannot tell "
            "from their neighbours. Turn them into text."
        )
    is_level = graph.cast(graph.node("Equal", column, level_numbers[None]), DOUBLE)
    # At most one level is equal: the product is its run, or 0 for none.
    runs = np.array([fitted.index[level] for level in levels], dtype=np.float64)
    run = graph.node("MatMul", is_level, runs[:, None])
    none = graph.node("Equal", run, np.zeros((1, 1)))
    run = graph.node("Where", none, np.full((1, 1), float(fitted.unseen_run)), run)
    missing = graph.node("IsNaN", column)
    run = graph.node("Where", missing, np.full((1, 1), float(fitted.missing_run)), run)
    return condition_of_each_run(graph, run, fitted), missing


def text_conditions(graph, column, fitted):
    """Compare a column of text with its levels; the empty text is missing."""
    levels = [*fitted.index]
    if not all(isinstance(level, str) for level in levels):
        raise NotImplementedError(
            f"Column {fitted.name!r} held {levels!r} in fit, but its type in the graph "
            "is text. Give initial_types with a number type for it."
        )
    runs = runs_of_text(graph, column, fitted)
    missing = graph.node("Equal", runs, np.full((1, 1), fitted.missing_run))
    return condition_of_each_run(graph, graph.cast(runs, DOUBLE), fitted), missing


def ordered_conditions(graph, column, fitted, is_text):
    """Compare a column of ordered text with its levels; the empty text is missing."""
    if not is_text or not all(isinstance(level, str) for level in fitted.levels):
        raise NotImplementedError(
            f"Column {fitted.name!r} must have ordered levels of text, and "
            "StringTensorType in initial_types. Pass numbers instead of levels."
        )
    runs = runs_of_text(graph, column, fitted)
    # The runs of missing values and of unseen levels are the last ones.
    no_value = graph.node("GreaterOrEqual", runs, np.full((1, 1), fitted.missing_run))
    # Row r marks the conditions that hold in run r.
    holds = np.zeros((len(fitted.runs), fitted.n_conditions))
    for row, (first, end) in zip(holds, fitted.runs, strict=True):
        row[first:end] = 1.0
    every = np.arange(len(holds), dtype=np.float64)[None]
    is_run = graph.node("Equal", graph.cast(runs, DOUBLE), every)
    return graph.node("MatMul", graph.cast(is_run, DOUBLE), holds), no_value


def refuse_empty_text(fitted):
    """Raise a ValueError for a level that a graph takes for a missing value."""
    if "" in getattr(fitted, "index", ()):
        raise ValueError(
            f"Column {fitted.name!r} has the empty text as a level, but in a graph the "
            "empty text is a missing value. Replace these texts by another level, and "
            "fit again."
        )


def runs_of_text(graph, column, fitted):
    """Look up the run of each level of text."""
    levels, runs = [*fitted.index], [*fitted.index.values()]
    # The empty text stands for a missing value.
    if "" not in levels:
        levels, runs = [*levels, ""], [*runs, fitted.missing_run]
    version = {"domain": "ai.onnx.ml", "version": 2}
    runs = {"values_int64s": runs, "default_int64": fitted.unseen_run}
    return graph.node("LabelEncoder", column, keys_strings=levels, **version, **runs)


def condition_of_each_run(graph, runs, fitted):
    """Mark the condition of each sample: in run j only condition j - 1 holds."""
    numbers = np.arange(1, fitted.n_conditions + 1, dtype=np.float64)[None]
    return graph.cast(graph.node("Equal", runs, numbers), DOUBLE)
