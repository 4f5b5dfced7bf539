"""BitTable: Boolean features on disk, a bit each, read where they are needed."""

# The file, which `_header.py` describes, is written in one pass to a draft
# (`_draft.py`): words go to the file itself, the other sections to files beside it that
# are appended at the end. The file gets its name when it is complete, so there is no
# half a table. A journal notes after each batch what a later run may rely on.

import json
import os
import shutil
import weakref
import zlib
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.bits import PackedBits, pack_dense, unpack_words
from sklboolean._core.data_errors import column_names
from sklboolean._core.labels import encode_classes, plain_labels
from sklboolean._core.memory import as_bytes
from sklboolean._core.parameters import check_integer, check_real
from sklboolean._core.progress import Progress
from sklboolean._core.validation import (
    KEPT_DTYPES,
    check_array_strict,
    check_labelled,
    count_samples,
)
from sklboolean._core.weights import check_sample_weight
from sklboolean.io._draft import IS_WINDOWS, Draft, as_path
from sklboolean.io._header import FIELDS, PARTS, lay_out, read_header, write_header
from sklboolean.io._sources import (
    BATCH_SIZE,
    as_frame,
    can_be_read_again,
    open_batches,
    select_columns,
)

CHUNK = 2**24


class BitTable(PackedBits):
    """Boolean samples in a file: packed bits with names, labels and weights.

    A feature takes a bit. The file is mapped into memory, so only the samples that are
    read are loaded. Classifiers, conjunction models and densities take a table in the
    place of ``X``, and fit the model that they fit to the same samples in memory. Its
    labels and weights are used where ``fit`` and ``score`` are given none. Splits of
    cross-validation copy the bits of their samples into memory. A pickle holds the path
    and not the samples. Another file may take the path, but a file that is mapped must
    not be cut or changed in place: reading what was cut ends Python (SIGBUS).

    Parameters
    ----------
    path : str or Path
        A file that `write` made.
    verify : bool, default=True
        Whether to read the whole file once and compare its checksums. False opens large
        files at once, and compares that of the labels when they are read first. A
        truncated file and an impossible header are errors in any case.
    memory_limit : int, str or None, default=None
        Bytes that a fit to the table, or to a part of it, may take, the mapped file
        included and Python excluded: a number, or a text such as "2 GB". A fit that may
        take more is a ValueError before it begins, and so is one whose memory has no
        known bound. `predict_to_parquet` keeps to it as well. It may be set later.

    Attributes
    ----------
    n_samples : int
        Number of samples; also the length of the table.
    n_features : int
        Number of bits of a sample.
    shape : tuple
        Both numbers.
    words : ndarray of shape (n_samples, n_words), dtype uint64
        The bits, mapped from the file: bit j % 64 of word j // 64 is feature j.
    y : ndarray of shape (n_samples,) or None
        The labels, read from the file at each use.
    sample_weight : ndarray of shape (n_samples,), dtype float64, or None
        The weights, mapped from the file.
    feature_names : ndarray of shape (n_features,), dtype object, or None
        Names of the features, where the batches or the encoder had any.
    feature_groups : list of length n_features, or None
        The column that each feature describes.
    classes : ndarray of shape (n_classes,), or None
        The labels, sorted, as ``partial_fit`` takes them; None for numbers or nothing
        to predict.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklboolean import AveragedPerceptron
    >>> from sklboolean.io import BitTable
    >>> batches = [([[1, 0], [0, 1]], ["yes", "no"]), ([[1, 1]], ["yes"])]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = BitTable.write(Path(folder) / "small.bits", batches)
    ...     model = AveragedPerceptron().fit(table)
    ...     del table  # closes the file
    >>> model.predict([[1, 0]]).tolist()
    ['yes']
    """

    def __init__(self, path, *, verify=True, memory_limit=None):
        self.path, self.memory_limit = as_path(path, "path"), memory_limit
        if self.path.exists() and not self.path.is_file():  # a FIFO would wait
            raise self._damage("it is no regular file")
        # Maps and checksums read this file, also where the path gets another one.
        self._file = self.path.open("rb")
        weakref.finalize(self, self._file.close)
        # The end is read first: it tells whether the file is whole, and where the rest
        # is.
        try:
            header = read_header(self._file)
        except ValueError as error:
            raise self._damage(error) from error
        self.n_samples, self.n_features = header["shape"]
        names = header["feature_names"]
        self.feature_names = None if names is None else np.array(names, dtype=object)
        self.feature_groups = header["feature_groups"]
        # In the order in which they came, as the codes count them.
        self._labels = None if header["labels"] is None else as_labels(header["labels"])
        self.classes = None if self._labels is None else np.sort(self._labels)
        self._parts, self._has_checked_labels = header["parts"], False
        self.words, self.sample_weight = self._words(), self._part("sample_weight")
        if verify:
            self.verify()

    @property
    def memory_limit(self):
        """Bytes that a fit may take, or None."""
        return self._memory_limit

    @memory_limit.setter
    def memory_limit(self, limit):
        self._memory_limit = None if limit is None else as_bytes(limit)

    @property
    def y(self):
        """Labels, or None."""
        return self._read_labels(slice(None))

    def _read_labels(self, samples):
        y = self._part("y")
        if y is None:
            return None
        if not self._has_checked_labels:
            self._check_labels(y)
        return y[samples] if self._labels is None else self._labels[y[samples]]

    def _check_labels(self, y):
        """Refuse damaged labels, also where the table was opened without `verify`."""
        section = self._parts["y"]
        little = y.astype(section["dtype"], copy=False)
        is_sound = zlib.crc32(little) == section["checksum"]
        if self._labels is not None:  # each label occurs
            is_sound &= y.min() == 0 and y.max() == len(self._labels) - 1
        if not is_sound:
            raise self._damage("its labels are damaged")
        self._has_checked_labels = True

    def _words(self):
        return self._part("words").reshape(self.n_samples, -1)

    def _read(self, samples):
        weights = self._part("sample_weight")
        weights = None if weights is None else weights[samples]
        return self._words()[samples], self._read_labels(samples), weights

    def __reduce__(self):
        options = {"verify": False, "memory_limit": self.memory_limit}
        # Another process may have another working directory.
        return partial(BitTable, **options), (self.path.resolve(),)

    def _damage(self, what):
        return ValueError(
            f"{self.path} is not a complete table of bits: {what}. Write it anew."
        )

    def verify(self):
        """Compare the contents with their checksums.

        Raises
        ------
        ValueError
            For a damaged file, with its name.
        """
        for name, section in self._parts.items():
            self._file.seek(section["start"])
            if checksum(self._file, section["n_bytes"]) != section["checksum"]:
                raise self._damage(f"its {name} are damaged")
        n_last = self.n_features % 64  # bits of the last word; the others are 0
        if n_last and np.bitwise_or.reduce(self._words()[:, -1]) >> np.uint64(n_last):
            raise self._damage("its words are damaged")
        self._read_labels(slice(0))  # checks them

    def _map(self):
        """Map the file anew: what is read leaves memory with the array."""
        return np.memmap(self._file, dtype=np.uint8, mode="r")

    def _part(self, name):
        """Map one part of the file as an array, or return None."""
        if name not in self._parts:
            return None
        section = self._parts[name]
        stop = section["start"] + section["n_bytes"]
        array = np.asarray(self._map()[section["start"] : stop].view(section["dtype"]))
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def batches(self, batch_size=BATCH_SIZE):
        """Yield the samples in their order.

        Parameters
        ----------
        batch_size : int, default=65600
            Number of samples of a batch; the last one may have fewer.

        Yields
        ------
        X : ndarray of shape (n_samples, n_features), dtype uint8
            Zeros and ones.
        y : ndarray of shape (n_samples,) or None
        sample_weight : ndarray of shape (n_samples,) or None
        """
        check_integer(batch_size, "batch_size", 1)
        for first in range(0, self.n_samples, batch_size):
            rows = slice(first, first + batch_size)
            batch = self[rows]
            labels, weights = (
                None if values is None else np.array(values)
                for values in (batch.y, batch.sample_weight)
            )
            yield unpack_words(batch.words, self.n_features), labels, weights

    @classmethod
    def write(
        cls, path, source, *, encoder=None, label=None, weight=None, binarize=0.0,
        batch_size=BATCH_SIZE, resume=False, verbose=0,
    ) -> "BitTable":  # fmt: skip
        """Write a table in one pass over batches, and open it.

        The file has its name only when it is complete. Until then a folder beside it,
        of the same name and ``.partial``, holds what is done. Several runs may write
        one path: each returns its own table, and the file is that of the last one.

        Parameters
        ----------
        path : str or Path
            The file to write, on a local disk. An earlier file is replaced and its mode
            is kept; a link, a folder and a device are refused.
        source : path, table or iterable
            A .parquet, .csv, .csv.gz, .csv.bz2 or .csv.zst file, a pandas frame, a data
            set of pyarrow, or an object with the Arrow stream interface, such as
            tables, readers, frames of polars and relations of DuckDB; files and data
            sets need pyarrow. A file in an object store is a URI such as
            "s3://bucket/data.parquet", or a pair of a file system of pyarrow or fsspec
            and a path. A lazy frame of polars, a frame of Dask, or a tuple of frames or
            arrays of Dask. Or an iterable of batches: files, tables, arrays, or tuples
            (X, y) and (X, y, sample_weight). In a .csv file empty texts are missing
            values, and words such as NA and null only in columns of numbers.
        encoder : transformer or None, default=None
            Makes the Boolean features, for example a `BooleanEncoder`. One that is not
            fitted is fitted by ``fit_partitions`` in a pass of its own, with labels and
            weights, so the source must be one that can be read twice. A fitted one
            takes its columns by their names, and others are left out. None: X holds
            numbers.
        label, weight : str or None, default=None
            Columns of tables that hold labels and weights. Labels are text, Booleans or
            integers, or real numbers for regressors.
        binarize : float or None, default=0.0
            A value above it is true; None demands zeros and ones.
        batch_size : int, default=65600
            Samples that are held in memory, of files and tables.
        resume : bool, default=False
            Whether to keep what is done when the run fails or is killed, and to
            continue such a run. It must have had the same source, encoder, labels,
            weights and ``batch_size``. The first batch is encoded again to check this;
            the others that were done are only read. Only one run at a time continues a
            path.
        verbose : int, default=0
            1 prints a line for each batch.

        Returns
        -------
        table : BitTable

        Raises
        ------
        ValueError
            For batches of other columns, for labels and weights of only some batches,
            for data that cannot be encoded, for files and stores that cannot be read,
            for a path that is no regular file, and for a run to continue that had
            another source or encoder, that still runs, or whose files are damaged.
        """
        check_integer(batch_size, "batch_size", 1)
        if binarize is not None:
            check_real(binarize, "binarize")
        writer = _Writer(encoder, binarize)
        start = partial(Progress, SimpleNamespace(verbose=verbose), name=cls.__name__)
        with Draft(path, "path", resume=resume) as draft, ExitStack() as stack:
            if encoder is not None and not is_fitted(encoder):
                progress = start("batch to fit the encoder")
                fit_encoder(encoder, source, label, weight, batch_size, progress)
            writer.read_journal(draft)
            # One file for each section until the end, then one.
            spools = {name: stack.enter_context(draft.open(name)) for name in PARTS}
            writer.truncate(spools)
            progress = start("batch")
            batches = open_batches(source, label, weight, batch_size)
            for batch in writer.batches_to_do(batches):
                for name, array in writer.pack(*batch).items():
                    writer.add(name, array, spools[name])
                if resume:
                    writer.write_journal(draft, spools)
                progress.step(lambda: f"{writer.shape[0]} samples")
            writer.finish(spools)
            stack.close()
            # It is opened first, as another run may replace it at once.
            table = None if IS_WINDOWS else cls(draft.folder / "words", verify=False)
            draft.complete("words")
        table = table or cls(draft.target, verify=False)
        table.path = draft.target
        return table


def is_fitted(encoder):
    """Test whether a transformer is fitted."""
    if isinstance(encoder, type) or not hasattr(encoder, "transform"):
        raise ValueError(
            f"encoder must be a transformer such as BooleanEncoder(); got {encoder!r}."
        )
    try:
        check_is_fitted(encoder)
    except NotFittedError:
        return False
    except TypeError:  # of an object without fit
        return True
    return True


def fit_encoder(encoder, source, label, weight, batch_size, progress):
    """Fit an encoder to all batches of a source, which must not be used up by it."""
    if not can_be_read_again(source):
        raise ValueError(
            f"encoder is not fitted, and source is a {type(source).__name__}, which "
            "can be read only once. Pass a path, a table or a list of batches, or "
            "encoder.fit_partitions(batches) first."
        )
    if not hasattr(encoder, "fit_partitions"):
        raise ValueError(
            f"{type(encoder).__name__} is not fitted, and has no fit_partitions that "
            "fits it in batches. Fit it first."
        )

    def read():
        for batch in open_batches(source, label, weight, batch_size):
            yield batch
            progress.step(lambda: "read")

    encoder.fit_partitions(read())


def checksum(file, n_bytes):
    """Compute the checksum of the next bytes of a file; None if it is shorter."""
    crc = 0
    while n_bytes:
        chunk = file.read(min(CHUNK, n_bytes))
        if not chunk:
            return None
        crc = zlib.crc32(chunk, crc)
        n_bytes -= len(chunk)
    return crc


def as_labels(labels):
    """Make an array of labels; texts of numpy would drop characters of code 0."""
    is_cut = any(isinstance(label, str) and label.endswith("\0") for label in labels)
    return np.array(labels, dtype=object if is_cut else None)


class _Writer:
    """Packs batches, and counts what the header states of them."""

    def __init__(self, encoder, binarize):
        self.encoder, self.binarize = encoder, binarize
        self.shape, self.names, self.codes, self.checksums = None, None, {}, {}
        self.first = None  # checksum of the first batch

    def write_journal(self, draft, spools):
        """Note what the files hold, for a run that continues this one."""
        for spool in spools.values():
            spool.flush()
        state = json.dumps([self.header(), self.first])
        note = draft.journal.with_suffix(".new")
        note.write_text(json.dumps([state, zlib.crc32(state.encode())]))
        os.replace(note, draft.journal)

    def read_journal(self, draft):
        """Continue from what a run that was cut off had noted, if it is all there."""
        if not draft.journal.exists():
            return
        damage = ValueError(
            f"{draft.journal} and the files beside it are damaged, so the run cannot "
            "be continued. Write the table anew with resume=False."
        )
        try:
            state, crc = json.loads(draft.journal.read_text())
            is_sound = zlib.crc32(state.encode()) == crc
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise damage from error
        if not is_sound:
            raise damage
        header, self.first = json.loads(state)
        self.shape, self.names = header["shape"], header["feature_names"]
        self.codes = {label: k for k, label in enumerate(header["labels"] or [])}
        for name, section in header["parts"].items():
            with draft.open(name) as file:
                if checksum(file, section["n_bytes"]) != section["checksum"]:
                    raise damage
            self.checksums[name] = section["checksum"]

    def header(self):
        """State what is written, with the place that each part will have."""
        groups = getattr(self.encoder, "feature_groups_", None)
        groups = None if groups is None else [str(group) for group in groups]
        labels = [*self.codes] or None
        parts = lay_out(self.shape, labels, self.checksums)
        values = self.shape, self.names, groups, labels, parts, 0
        return dict(zip(FIELDS, values, strict=True))

    def truncate(self, spools):
        """Drop what was written after the last note."""
        sections = self.header()["parts"] if self.checksums else {}
        for name, spool in spools.items():
            spool.truncate(sections[name]["n_bytes"] if name in sections else 0)
            spool.seek(0, os.SEEK_END)

    def batches_to_do(self, batches):
        """Yield the batches that are not written yet."""
        # What is done must end where a batch ends, and the first batch must give the
        # same bits: else source or encoder are others.
        n_read, n_done = 0, self.shape[0] if self.shape else 0
        differs = ValueError(
            "The run to continue had another source, encoder, label, weight or "
            "batch_size. Pass the same, or write the table anew with resume=False."
        )
        for number, batch in enumerate(batches):
            if n_read == n_done:
                yield batch
                continue
            X = batch[0]
            n_read += count_samples(X)
            if n_read > n_done:
                raise differs
            if number == 0:
                other = _Writer(self.encoder, self.binarize)
                other.pack(*batch)
                if other.first != self.first:
                    raise differs
        if n_read < n_done:
            raise differs

    def pack(self, X, y, sample_weight):
        """Make the arrays of a batch; other parts than before are an error."""
        X, names = self._features(X)
        n_samples, columns = len(X), (X.shape[1], names)
        if self.shape is None:
            self.shape, self.names = [0, X.shape[1]], names
        if columns != (self.shape[1], self.names):
            raise ValueError("All batches must have the same columns, in one order.")
        arrays = {"words": pack_dense(X, self.binarize).astype("<u8", copy=False)}
        if y is not None:
            arrays["y"] = self._labels(y)
        if sample_weight is not None:
            weights = check_sample_weight(sample_weight, n_samples)
            arrays["sample_weight"] = weights.astype("<f8", copy=False)
        if self.shape[0] and arrays.keys() != self.checksums.keys():
            raise ValueError("All batches must have labels and weights, or none.")
        if any(len(array) != n_samples for array in arrays.values()):
            raise ValueError("X and y of a batch differ in length.")
        self.shape[0] += n_samples
        if self.first is None:
            self.first = zlib.crc32(repr([*arrays, names, *self.codes]).encode())
            for array in arrays.values():
                self.first = zlib.crc32(array.tobytes(), self.first)
        return arrays

    def _features(self, X):
        """Return the features of a batch as an array, and their names."""
        names = column_names(X)
        if self.encoder is not None:
            X = select_columns(X, getattr(self.encoder, "feature_names_in_", None))
            X, names = self.encoder.transform(X), self.encoder.get_feature_names_out()
            X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        names = None if names is None else [str(name) for name in names]
        if names is not None and len(set(names)) < len(names):
            name = max(names, key=names.count)
            raise ValueError(f"X has several columns named {name!r}. Rename them.")
        return check_array_strict(as_frame(X), dtype=KEPT_DTYPES), names

    def _labels(self, y):
        """Code labels in the order in which they come; real numbers stay."""
        check_labelled(y)
        y = np.asarray(plain_labels(y))
        if y.ndim != 1:
            raise ValueError(
                f"y of a batch must have one label for each sample; it has the shape "
                f"{y.shape}."
            )
        if "y" in self.checksums and bool(self.codes) == (y.dtype.kind == "f"):
            raise ValueError("Labels must be real numbers in all batches, or in none.")
        if y.dtype.kind == "f":
            numbers = check_array_strict(y, "y", ensure_2d=False, dtype=np.float64)
            return numbers.astype("<f8", copy=False)
        # Codes count labels in the order in which they came, so earlier batches stay
        # valid.
        classes, places = encode_classes(y, min_classes=1)
        labels = classes.tolist()
        first = next(iter(self.codes), labels[0])
        for label in labels:
            is_long = type(label) is int and not -(2**63) <= label < 2**63
            if y.dtype.kind in "mM" or type(label) not in (str, bool, int) or is_long:
                raise ValueError(
                    "Labels must be text, Booleans or integers of 64 bits; got "
                    f"{label!r}. Convert them, for example to text."
                )
            if type(label) is not type(first):
                raise ValueError(
                    f"Labels must have one type in all batches; got {first!r} and "
                    f"{label!r}. Convert them."
                )
        codes = [self.codes.setdefault(v, len(self.codes)) for v in labels]
        return np.array(codes, dtype="<i8")[places]

    def add(self, name, array, file):
        """Append an array of a batch to its part."""
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self.checksums[name] = zlib.crc32(data, self.checksums.get(name, 0))
        file.write(data)

    def finish(self, spools):
        """Join the parts, and write the header behind them."""
        if self.shape is None:
            raise ValueError("source has no batch: give at least one sample.")
        file, header = spools["words"], self.header()
        for name in header["parts"]:
            if name != "words":
                spools[name].seek(0)
                shutil.copyfileobj(spools[name], file)
        write_header(file, header)
