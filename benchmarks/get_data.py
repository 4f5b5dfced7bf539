"""Fetch the public tables of the benchmarks, and check each by its SHA-256.

    python benchmarks/get_data.py DIR [--only NAME ...]

Writes one NumPy archive for each table into DIR, for ``--data DIR`` of the other
scripts. The tables are files of public repositories at fixed commits. A checksum is
that of the arrays, so that it holds for any version of NumPy. Licences are those of
the tables: UCI's are CC BY 4.0, the others have none stated. 20 newsgroups and USPS
need more than one file or package: README.md has the form of their archives.
"""

import argparse
import re
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from urllib.request import urlopen

import numpy as np

RAW = "https://raw.githubusercontent.com"
ARFF = "renatopp/arff-datasets/c59f172882592bb58982cc54d2d3c8a2b57e9b73/classification"
DEBD = "arranger1044/DEBD/850908666388f1b1c766a304b37dae14613f1e51/datasets"
A9A = "dtera/fl_xgboost/0abd2e16afeea63f53ff249f4e0ad15a8e5d663c/data"
SMS = "icancode23/SmsSpamFilter/2c61b94bd1d6efd5901d008475ee962863848168/data"
TOKEN = re.compile(r"[a-z]{2,}|\d+|[$!£]")


def lines_of(path):
    """Return the lines of a file of a public repository."""
    with urlopen(f"{RAW}/{path}", timeout=60) as answer:
        return answer.read().decode("utf-8").splitlines()


def packed(**parts):
    """Return packed bits by part."""
    arrays = {f"X_{name}_packed": np.packbits(X, axis=1) for name, X in parts.items()}
    return {**arrays, "n_features": np.int64(next(iter(parts.values())).shape[1])}


def read_arff(path):
    """Return the attributes with their values in order, and the rows."""
    attributes, rows = {}, []
    for line in map(str.strip, lines_of(path)):
        if line.lower().startswith("@attribute"):
            name, values = re.match(r"\S+\s+('[^']*'|\S+)\s*\{(.*)\}", line).groups()
            attributes[name.strip("'")] = [v.strip(" '\"") for v in values.split(",")]
        elif line and line[0] not in "@%":
            rows.append([cell.strip(" '\"") for cell in line.split(",")])
    return attributes, np.array(rows)


def one_hot_table(file):
    """Code each observed value of an attribute by a bit, a missing one ("?") too."""
    attributes, rows = read_arff(f"{ARFF}/{file}.arff")
    *names, _label = attributes
    columns, groups, features = [], [], []
    for j, name in enumerate(names):
        for value in [*attributes[name], "?"]:
            if (rows[:, j] == value).any():
                columns.append(rows[:, j] == value)
                groups.append(j)
                features.append(f"{name}={value}")
    classes, y = np.unique(rows[:, -1], return_inverse=True)
    return {
        **packed(all=np.array(columns).T), "y_all": y.astype(np.int16),
        "classes": classes, "feature_names": np.array(features),
        "feature_group": np.array(groups, dtype=np.int16),
    }  # fmt: skip


def spect():
    """Return the heart images of SPECT, whose label comes first."""
    train, test = (
        read_arff(f"{ARFF}/spect.{part}.arff")[1].astype(np.int16)
        for part in ("train", "test")
    )
    return {
        **packed(train=train[:, 1:], test=test[:, 1:]),
        "y_train": train[:, 0], "y_test": test[:, 0],
        "feature_group": np.arange(train.shape[1] - 1, dtype=np.int16),
    }  # fmt: skip


def read_libsvm(path, n_features):
    """Return the bits and the labels of a file in LIBSVM's format."""
    rows = [line.split() for line in lines_of(path)]
    X = np.zeros((len(rows), n_features), dtype=np.uint8)
    for own, (_label, *pairs) in zip(X, rows, strict=True):
        own[[int(pair.partition(":")[0]) - 1 for pair in pairs]] = 1
    return X, np.array([int(row[0]) for row in rows], dtype=np.int8)


def a9a():
    """Return a9a: incomes of the census of 1994, binarised."""
    train, y_train = read_libsvm(f"{A9A}/a9a", 123)
    test, y_test = read_libsvm(f"{A9A}/a9a.t", 123)
    return {**packed(train=train, test=test), "y_train": y_train, "y_test": y_test}


def read_bits(path):
    """Return a file of zeros and ones with commas between them."""
    rows = [line.strip(", ").split(",") for line in lines_of(f"{DEBD}/{path}.data")]
    return np.array(rows, dtype=np.uint8)


def three_parts(name):
    """Return the parts of a set for densities."""
    parts = {part: read_bits(f"{name}/{name}.{part}") for part in ("train", "valid")}
    return packed(**parts, test=read_bits(f"{name}/{name}.test"))


def adult():
    """Return adult for densities: its test part is what a9a has beside the others."""
    train, valid = (read_bits(f"adult/adult.{part}") for part in ("train", "valid"))
    taken = Counter(row.tobytes() for row in np.concatenate([train, valid]))
    test = []
    for row in read_libsvm(f"{A9A}/a9a", 123)[0]:
        if taken[row.tobytes()]:
            taken[row.tobytes()] -= 1
        else:
            test.append(row)
    return packed(train=train, valid=valid, test=np.array(test))


def sms():
    """Return text messages: words, amounts of digits, and the signs of prices."""
    rows = [line.split("\t", 1) for line in lines_of(f"{SMS}/SMSSpamCollection")]
    rows = [row for row in rows if len(row) == 2]
    messages = [
        {f"<num{len(t)}>" if t.isdigit() else t for t in TOKEN.findall(text.lower())}
        for _label, text in rows
    ]
    words = sorted(set().union(*messages))
    number = {word: j for j, word in enumerate(words)}
    indices = [sorted(number[word] for word in own) for own in messages]
    return {
        "X_all_indices": np.concatenate(indices).astype(np.int32),
        "X_all_indptr": np.cumsum([0, *map(len, indices)]).astype(np.int32),
        "y_all": np.array([label == "spam" for label, _ in rows], dtype=np.int16),
        "n_features": np.int64(len(words)), "feature_names": np.array(words),
    }  # fmt: skip


def checksum(arrays):
    """Return the SHA-256 of the bits and labels, by the names of their arrays."""
    digest = sha256()
    for name in sorted(name for name in arrays if name.startswith(("X_", "y_"))):
        digest.update(name.encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def one_hot(file):
    """Return the function that reads a table of categories."""
    return lambda: one_hot_table(file)


def density(name):
    """Return the function that reads a set for densities."""
    return lambda: three_parts(name)


TABLES = {  # how it is read, and the first half of its checksum
    "debd_nltcs": (density("nltcs"), "df02b3fcc7c72caaa1d8b3e9d1b0fc34"),
    "debd_plants": (density("plants"), "9fa62f21b8d7ce51b109c4b9993707f2"),
    "libsvm_a9a": (a9a, "1ad93a83be9c529ab6892e8df261721b"),
    "nade_adult": (adult, "fbd9465f8e22be868ea88d36b4e51190"),
    "nade_mushrooms": (density("mushrooms"), "c99fcca8bb402f117b8077b711147ca0"),
    "sms_spam_bool": (sms, "7bac8b805f61b71bda71352b6029c5f4"),
    "uci_breast_cancer_ljubljana": (
        one_hot("breast.cancer"),
        "270bb043c0406d19dc18a35bdc27d112",
    ),
    "uci_car": (one_hot("car"), "406cf834ef23649d6bac24e8eb1e363c"),
    "uci_kr_vs_kp": (one_hot("kr.vs.kp"), "d7db195dcd1b599a1718abfd847f4c77"),
    "uci_mushroom": (one_hot("mushroom"), "a143607bf5606d2d957a6425b55e6262"),
    "uci_nursery": (one_hot("nursery"), "71816492c55c7d06dcdc6f64cc9a4e63"),
    "uci_spect": (spect, "cb7c93f5a3264ae20de0cae2108a8a04"),
    "uci_tic_tac_toe": (one_hot("tic-tac-toe"), "9f1639ef0307d0bf0e5274490688090b"),
    "uci_votes": (one_hot("vote"), "c2e330f24f51a28e1bf898d06f274933"),
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the archives are written")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name in options.only:
        read, expected = TABLES[name]
        arrays = read()
        if not checksum(arrays).startswith(expected):
            wrong.append(name)
            continue
        np.savez_compressed(options.folder / f"{name}.npz", **arrays)
        print(f"{name}: written")
    if wrong:
        print("Not written, because the checksum differs: " + ", ".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
