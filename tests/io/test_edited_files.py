"""Headers, journals and labels that were edited, with right checksums."""

import copy
import json
import os
import zlib

import numpy as np
import pandas as pd
import pytest

from sklboolean.io import BitTable

RNG = np.random.default_rng(0)
BITS = pd.DataFrame(RNG.integers(0, 2, (50, 70)), columns=[f"f{k}" for k in range(70)])
LABELS, NUMBERS = RNG.choice(["no", "yes", "it's"], 50), RNG.random(50)
VALUES = [
    None, True, False, 0, -1, 1, 2, 3, 64, 10**6, 2**63, 10**30, 1.0, float("nan"),
    float("inf"), "", "x", "<f8", ">u8", "|O", [], [1], [1, 2], [None], [[1]],
    ["a"] * 70, ["a", "a"], [True, 1], [2**64], {}, {"a": 1},
]  # fmt: skip


def places(value, place=()):
    """Yield the places of a document: keys of dictionaries, first items of lists."""
    yield place
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(min(2, len(value))):
            yield from places(value[key], (*place, key))


def edits(document):
    """Yield a place and a document that differs there, by each value and by a gap."""
    text = json.dumps(document)
    for *outer, last in list(places(document))[1:]:
        for value in (*VALUES, KeyError):
            edited = copy.deepcopy(document)
            parent = edited
            for key in outer:
                parent = parent[key]
            if value is KeyError:
                del parent[last]
            else:
                parent[last] = value
            if json.dumps(edited) != text:
                yield (*outer, last), edited
    for value in VALUES:
        yield (), value
    yield (), document | {"more": 1}
    yield (), dict(reversed(document.items()))


def parts(content):
    """Split a file into what comes before the header, and the header."""
    length = int.from_bytes(content[-20:-12], "little")
    return content[: -20 - length], json.loads(content[-20 - length : -20])


def join(body, header):
    """Write a header behind what comes before it; its size is right if it has one."""
    if isinstance(header, str):
        text = header.encode()
    else:
        text = json.dumps(header).encode()
    footer = len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little")
    return body + text + footer + b"SKLBITS1"


@pytest.fixture(params=[LABELS, NUMBERS], ids=["labels", "numbers"])
def sound(tmp_path, request):
    """The file of a table, whose header takes no more bytes than it states."""
    BitTable.write(tmp_path / "t", [(BITS, request.param, NUMBERS)])
    body, header = parts((tmp_path / "t").read_bytes())
    return body, header


def refused(path, **options):
    """Test whether a file is refused when it is opened, or when labels are read."""
    try:
        BitTable(path, **options).y  # noqa: B018
    except ValueError as error:
        return "is not a complete table of bits: " in str(error)
    return False


def fitted(body, header):
    """Set the size that a header states to that of its file."""
    if isinstance(header, dict) and type(header.get("size")) is int:
        for _ in range(3):
            header = header | {"size": len(join(body, header))}
    return header


def is_another_table(place, edited):
    """Test for an edit of names that a table may have."""
    if place == ("feature_names",):
        return edited.get("feature_names", 0) is None
    if place == ("feature_groups",):
        return edited.get("feature_groups") == ["a"] * 70
    if len(place) < 2 or place[0] not in ("feature_names", "labels"):
        return False
    same_length = len(edited[place[0]]) == (70 if place[0] == "feature_names" else 3)
    return same_length and type(edited[place[0]][place[1]]) is str


def test_every_edited_header_is_refused(sound, tmp_path):
    body, header = sound
    n_edits, path = 0, tmp_path / "edited"
    path.write_bytes(join(body, fitted(body, header)))
    assert not refused(path)
    for place, edited in [*edits(header)][::3]:
        if place and is_another_table(place, edited):
            continue
        is_size = place == ("size",)
        path.write_bytes(join(body, edited if is_size else fitted(body, edited)))
        assert refused(path), (place, edited)
        # Labels are compared with their checksum in any case, other parts are not.
        if place[-1:] == ("checksum",) and place[1] != "y":
            crc = edited["parts"][place[1]].get("checksum")
            if type(crc) is int and crc in range(2**32):
                continue
        assert refused(path, verify=False), (place, edited)
        n_edits += 1
    assert n_edits > 200


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "1" * 5000, '{"size": ' + "9" * 5000 + "}", "\0"]
)
def test_headers_that_are_no_json_are_refused(text, sound, tmp_path):
    (tmp_path / "edited").write_bytes(join(sound[0], text))
    for verify in (True, False):
        assert refused(tmp_path / "edited", verify=verify)


def test_a_table_without_verify_gives_no_other_label(sound, tmp_path):
    body, header = sound
    y = header["parts"]["y"]
    path = tmp_path / "edited"
    for place in range(y["start"], y["start"] + y["n_bytes"], 7):
        damaged = bytearray(body)
        damaged[place] ^= 1 << RNG.integers(8)
        path.write_bytes(join(damaged, fitted(body, header)))
        assert refused(path, verify=False)
        with pytest.raises(ValueError, match="its labels are damaged"):
            BitTable(path, verify=False)[:3]


@pytest.mark.parametrize("n_labels", [1, 2, 4])
def test_codes_without_a_label_are_refused(n_labels, tmp_path):
    BitTable.write(tmp_path / "t", [(BITS, LABELS)])
    body, header = parts((tmp_path / "t").read_bytes())
    header["labels"] = ["no", "yes", "it's", "more"][:n_labels]
    (tmp_path / "t").write_bytes(join(body, fitted(body, header)))
    for verify in (True, False):
        assert refused(tmp_path / "t", verify=verify)


def test_bits_beyond_the_features_are_refused(tmp_path):
    BitTable.write(tmp_path / "t", [BITS.to_numpy()])
    body, header = parts((tmp_path / "t").read_bytes())
    header["shape"] = [50, 65]
    (tmp_path / "t").write_bytes(join(body, fitted(body, header)))
    assert refused(tmp_path / "t")


def test_what_is_no_file_is_refused(tmp_path):
    for wrong in (3, b"x", None, True):
        with pytest.raises(ValueError, match="path must be a path, a str or Path; got"):
            BitTable(wrong)
    for place in (tmp_path, "/dev/null")[: 1 + (os.name == "posix")]:
        with pytest.raises(ValueError, match="it is no regular file"):
            BitTable(place)
    with pytest.raises(FileNotFoundError):
        BitTable(tmp_path / "none")


def interrupted():
    """A source that ends after a batch."""
    yield BITS[:20], LABELS[:20], NUMBERS[:20]
    raise KeyboardInterrupt


def test_every_edited_journal_is_refused(tmp_path):
    path = tmp_path / "t"
    rest = [(BITS[s], LABELS[s], NUMBERS[s]) for s in (slice(20), slice(20, 50))]
    with pytest.raises(KeyboardInterrupt):
        BitTable.write(path, interrupted(), resume=True)
    journal = tmp_path / "t.partial" / "journal.json"
    sound = journal.read_text()
    state, crc = json.loads(sound)
    header, first = json.loads(state)
    notes = [[json.dumps([edited, first]), crc] for _, edited in edits(header)][::5]
    notes += [VALUES, [state], [state, None], [None, crc], *VALUES]
    for note in notes:
        journal.write_text(json.dumps(note))
        with pytest.raises(ValueError, match="damaged, so the run cannot be continued"):
            BitTable.write(path, rest, resume=True)
    journal.write_text(sound)
    table = BitTable.write(path, rest, resume=True)
    assert table.y.tolist() == LABELS.tolist()
