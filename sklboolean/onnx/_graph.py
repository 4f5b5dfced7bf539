"""Nodes of an ONNX graph, and samples and conjunctions within it."""

import numpy as np

# Numbers of the types in ONNX, of `TensorProto`.
FLOAT, INT64, STRING, DOUBLE = 1, 7, 8, 11
KINDS = {"f": DOUBLE, "i": INT64, "O": STRING, "U": STRING}


class Graph:
    """Part of a graph that a converter writes.

    A tensor is known by its name, a str. Arrays among the inputs of a node become
    constants.

    Parameters
    ----------
    scope, container
        Given to the converter by skl2onnx.
    """

    def __init__(self, scope, container):
        self.scope, self.container = scope, container

    def node(self, kind, *inputs, output=None, domain="", version=None, **attributes):
        """Add a node and return the name of its output."""
        names = [
            tensor if isinstance(tensor, str) else self.constant(tensor)
            for tensor in inputs
        ]
        output = output or self.scope.get_unique_variable_name(kind.lower())
        attributes |= {"op_domain": domain, "op_version": version}
        attributes["name"] = self.scope.get_unique_operator_name(kind)
        self.container.add_node(kind, names, [output], **attributes)
        return output

    def constant(self, array):
        """Add an array of float64, int64 or str, and return its name."""
        name = self.scope.get_unique_variable_name("constant")
        array = np.asarray(array)
        self.container.add_initializer(
            name, KINDS[array.dtype.kind], list(array.shape), array.ravel().tolist()
        )
        return name

    def cast(self, tensor, to, output=None):
        """Convert a tensor to ``FLOAT``, ``INT64`` or ``DOUBLE``."""
        return self.node("Cast", tensor, output=output, to=to)

    def columns(self, tensor, numbers):
        """Select columns."""
        return self.node("Gather", tensor, np.array(numbers, dtype=np.int64), axis=1)

    def join(self, tensors):
        """Put tensors of one type side by side."""
        is_one = len(tensors) == 1
        return tensors[0] if is_one else self.node("Concat", *tensors, axis=1)

    def numbers(self, variables):
        """Put the input variables of a model side by side, as float64."""
        return self.join(
            [self.cast(variable.full_name, DOUBLE) for variable in variables]
        )

    def held(self, bits, terms):
        """Mark the conjunctions that hold, as float64.

        Parameters
        ----------
        bits : str
            Float64 of shape (n_samples, n_features), of zeros and ones.
        terms : list of tuple of (int, bool)
            Conjunctions. One of no literals always holds.

        Returns
        -------
        held : str
            Of shape (n_samples, n_terms).
        """
        used = sorted({feature for term in terms for feature, _ in term}) or [0]
        places = {feature: row for row, feature in enumerate(used)}
        # Each negated literal that fails costs 1, and each of the others that holds
        # brings 1: the sum is the number of the latter only if all literals hold.
        signs, n_needed = np.zeros((len(used), len(terms))), np.zeros(len(terms))
        for k, term in enumerate(terms):
            for feature, value in term:
                signs[places[feature], k] = 1 if value else -1
                n_needed[k] += value
        sums = self.node("MatMul", self.columns(bits, used), signs)
        return self.cast(self.node("Equal", sums, n_needed[None]), DOUBLE)
