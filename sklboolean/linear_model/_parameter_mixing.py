"""Iterative parameter mixing: online linear models of samples in several places."""

# Each epoch trains every partition from the same state, in a task of its own, and
# averages the states that come back (`LinearState.average`).
# McDonald, Hall, Mann 2010, Figure 3 and Theorem 3.

from typing import Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.base import History, restore_on_error
from sklboolean._core.labels import distinct_classes, encode_classes
from sklboolean._core.partitions import (
    common_schema,
    describe_partition,
    load_partition,
    open_partitions,
    prefix_errors,
)
from sklboolean._core.progress import Progress, with_callbacks
from sklboolean._core.weights import LEAST_MEAN, class_weights, warn_of_absent


class ParameterMixingMixin:
    """``fit_partitions`` of an `OnlineClassifier` whose states can be averaged.

    States have ``average(states, updates, n_samples)``, which merges the states that an
    epoch over partitions made of it.
    """

    @with_callbacks
    def fit_partitions(self, partitions, classes=None) -> Self:
        """Fit the classifier to samples that are stored in several places.

        In each epoch every partition is trained from the same state, in its own order,
        as one joblib task; then the states are averaged. One partition gives the model
        of ``fit`` in the order of the samples. The model depends neither on the number
        of jobs nor on joblib's backend.

        Parameters
        ----------
        partitions : iterable
            Pairs (X, y) or triples (X, y, sample_weight) as for ``fit``, callables that
            load and return one, or objects with such a method ``compute``, such as
            Dask's delayed ones. A pair or triple of arrays or data frames of Dask is
            read as their partitions. Callables are loaded where the task runs, once for
            each epoch and once before; they must load the same samples every time. One
            partition, of those with the most classes the largest, is loaded once more
            to calibrate the scores. Arrays are sent.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; a partition may lack some. None: the labels that
            are found.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data, with the number of the partition. The
            classifier stays as it was.

        Notes
        -----
        States are averaged with weights in proportion to the updates in each partition.
        On separable samples the mistake bound of the perceptron then holds for the
        mistakes weighted in the same way (McDonald, Hall, Mann 2010, Theorem 3). An
        average over hypotheses covers all samples of all partitions, each with the
        hypothesis that its partition had after it.

        References
        ----------
        McDonald, Hall, Mann. "Distributed Training Strategies for the Structured
        Perceptron". NAACL 2010, Figure 3 and Theorem 3.
        """
        with restore_on_error(self):
            self._check_params()
            self._check_partitions()
            sources = open_partitions(partitions)
            classes = distinct_classes(classes)
            # One pool for all epochs, so that arrays are mapped or sent once.
            with Parallel() as parallel:
                infos = parallel(
                    delayed(describe_partition)(clone(self), number, *source)
                    for number, source in enumerate(sources)
                )
                infos = [info for info in infos if info.n_samples]
                schema, self.classes_ = common_schema(infos, classes)
                schema.set_attributes(self)
                self._fitted_params = self._resume_params()
                worker = self._worker(infos)
                state = self._init_state()
                state, history = self._mix(parallel, worker, sources, infos, state)
                self._store_epochs(state, history)
                best = max(infos, key=lambda info: (len(info.labels), info.n_samples))
                task = delayed(_score_partition)(
                    worker, state, best, *sources[best.number]
                )
                (held_out,) = parallel([task])
            self._calibrate(held_out)
        return self

    def _check_partitions(self):
        if self.average == "longest":
            raise ValueError(
                "average='longest' needs one stream, in which a hypothesis survives; "
                "fit_partitions takes average='mean' or None."
            )
        if self.early_stopping:
            raise ValueError(
                "early_stopping=True holds out samples of one table: use fit, or set "
                "max_iter."
            )

    def _worker(self, infos):
        """Copy what a task on a partition needs of this classifier.

        Its class weights are such that the mean weight of all samples is that of `fit`.
        """
        worker = clone(self).set_params(shuffle=False)
        worker.classes_ = self.classes_
        infos[0].schema.set_attributes(worker)
        totals, counts, occurs = np.zeros((3, len(self.classes_)))
        for info in infos:
            places = np.searchsorted(self.classes_, info.labels)
            totals[places] += info.totals
            counts[places] += info.counts
            occurs[places] = 1.0
        factors = class_weights(self.class_weight, self.classes_, totals)
        warn_of_absent(self.classes_[occurs > 0], (factors * totals)[occurs > 0])
        mean = factors @ totals / max(1.0, counts[factors > 0].sum())
        is_small = 0 < mean < LEAST_MEAN
        if self.class_weight is not None or is_small:
            factors = factors / mean if is_small else factors
            factors = dict(zip(self.classes_.tolist(), factors, strict=True))
            worker.class_weight = factors
        return worker

    def _mix(self, parallel, worker, sources, infos, state):
        """Run epochs over the partitions, averaging the states after each."""
        n_samples = [info.n_samples for info in infos]
        history = History()
        progress = Progress(self, "epoch", self.max_iter)
        for _ in range(self.max_iter):
            results = parallel(
                delayed(_train_partition)(worker, state, info, *sources[info.number])
                for info in infos
            )
            states, mistakes, updates = zip(*results, strict=True)
            state = state.average(states, updates, n_samples)
            history.append(sum(mistakes), sum(updates))
            progress.step(history.last)
        progress.finish()
        return state, history

    def _load(self, info, source):
        """Load in a task: data, codes, sizes of updates, samples, weights."""
        X, y, sample_weight = load_partition(*source)
        data, y = self._check_X(X, y, reset=False)
        _, codes = encode_classes(y, self.classes_)
        info.check_n_samples(len(codes))
        return data, codes, *self._weigh(codes, sample_weight, one_pass=True)


def _train_partition(worker, state, info, *source):
    """Train one epoch on one partition, in a task of its own."""
    with prefix_errors(info.number):
        data, codes, weights, samples, _ = worker._load(info, source)
        # Tasks may share the memory of the state, or have it read-only.
        state, history = worker._train(
            state.copy(), data, codes, weights, samples, one_pass=True
        )
        return state, history.mistakes[0], history.updates[0]


def _score_partition(worker, state, info, *source):
    """Score held-out samples of one partition, in a task of its own."""
    with prefix_errors(info.number):
        loaded = worker._load(info, source)
        return worker._second_model_scores(state, *loaded, one_pass=False)
