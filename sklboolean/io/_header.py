"""The file of a table, and its header, which is not believed."""

# The file, little-endian, from its beginning:
#
# 1. words, uint64 of shape (n_samples, n_words), as `bits.py` lays them out;
# 2. the labels, if any: int64 codes into the list of labels, or float64 numbers;
# 3. the weights, if any: float64;
# 4. the header, JSON: the shape, names, labels, and for each section dtype, start,
#    length and checksum;
# 5. the footer: length and checksum of the header, and MAGIC.

import json
import os
import zlib

MAGIC = b"SKLBITS1"
FOOTER = 8 + 4 + len(MAGIC)  # length and checksum of the header
PARTS = "words", "y", "sample_weight"
FIELDS = "shape", "feature_names", "feature_groups", "labels", "parts", "size"


def write_header(file, header):
    """Write header and footer behind the sections."""
    size = file.tell() + FOOTER
    # The header states the size of the file, its own length included: reserve the
    # digits.
    length = len(json.dumps(header | {"size": 10**18}))
    text = json.dumps(header | {"size": size + length}).encode()
    text = text.ljust(length)
    file.write(text + length.to_bytes(8, "little"))
    file.write(zlib.crc32(text).to_bytes(4, "little") + MAGIC)


def read_header(file):
    """Read the header at the end of a file; what is wrong is a ValueError."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - FOOTER))
    footer = file.read(FOOTER)
    length = int.from_bytes(footer[:8], "little")
    is_whole = len(footer) == FOOTER and footer.endswith(MAGIC)
    if not is_whole or length + FOOTER > size:
        raise ValueError("its end is missing")
    file.seek(size - FOOTER - length)
    text = file.read(length)
    if zlib.crc32(text) != int.from_bytes(footer[8:12], "little"):
        raise ValueError("its header is damaged")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("its header is no JSON") from error
    if not is_header(header):
        raise ValueError("its header states what no table has")
    n_bytes = sum(section["n_bytes"] for section in header["parts"].values())
    if not header["size"] == size == n_bytes + length + FOOTER:
        raise ValueError(f"it has {size} bytes instead of {header['size']}")
    return header


def is_header(header):
    """Test whether a header is one that `_Writer.header` can state."""
    if not isinstance(header, dict) or tuple(header) != FIELDS:
        return False
    shape, names, groups, labels, parts, size = header.values()
    if not (is_list_of(int, shape, 2) and min(shape) > 0 and is_list_of(int, [size])):
        return False
    return (
        all(t is None or is_list_of(str, t, shape[1]) for t in (names, groups))
        and (labels is None or any(is_list_of(t, labels) for t in (str, bool, int)))
        and all(t is None or 0 < len(t) == len(set(t)) for t in (names, labels))
        and are_sections(parts, shape, labels)
    )


def are_sections(parts, shape, labels):
    """Test whether sections are those of the samples, except for their checksums."""
    checksums = {
        name: checksum
        for name, section in (parts.items() if isinstance(parts, dict) else ())
        if isinstance(section, dict)
        and type(checksum := section.get("checksum")) is int
        and checksum in range(2**32)
    }
    needed = {"words"} if labels is None else {"words", "y"}
    # The texts differ for 0 and False.
    is_laid_out = repr(parts) == repr(lay_out(shape, labels, checksums))
    return needed <= checksums.keys() and is_laid_out


def is_list_of(kind, values, length=None):
    """Test for a list of values of a type, where True is no integer of 64 bits."""
    return (
        isinstance(values, list)
        and length in (None, len(values))
        and all(type(value) is kind for value in values)
        and (kind is not int or all(-(2**63) <= value < 2**63 for value in values))
    )


def lay_out(shape, labels, checksums):
    """Place the parts of a table, one after the other."""
    types = {"words": "<u8", "y": "<f8" if labels is None else "<i8"}
    sections, start = {}, 0
    for name in [name for name in PARTS if name in checksums]:
        n_values = -(-shape[1] // 64) if name == "words" else 1
        n_bytes = 8 * shape[0] * n_values
        sections[name] = {
            "dtype": types.get(name, "<f8"),
            "checksum": checksums[name],
            "n_bytes": n_bytes,
            "start": start,
        }
        start += n_bytes
    return sections
