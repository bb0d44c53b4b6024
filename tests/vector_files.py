"""Small files of word vectors in every format, with the same words and vectors."""

import struct

import numpy as np

WORDS = ("the", "cat", "dog", "Bonn", "naïve", "é", "sat")
WIDTH = 6


def random_rows(count, seed):
    return np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)


def text_of(values, words=WORDS, header=True):
    lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, values, strict=True)]
    first = [f"{len(words)} {values.shape[1]}"] if header else []
    return "\n".join([*first, *lines]) + "\n"


def binary_of(values, words=WORDS, newline=b"\n"):
    rows = b"".join(
        word.encode() + b" " + row.tobytes() + newline
        for word, row in zip(words, values, strict=True)
    )
    return f"{len(words)} {values.shape[1]}\n".encode() + rows


def native_of(values, grams, words=WORDS, *, low=3, high=4, version=12, quantized=0):
    """fastText's .bin as its source code writes it, without the output matrix."""
    head = struct.pack(
        "<ii12id", 793712314, version, values.shape[1], 5, 5, 1, 5, 1, 2, 2, len(grams), low, high,
        100, 1e-4,
    )  # fmt: skip
    head += struct.pack("<iiiqq", len(words), len(words), 0, 100, -1)
    head += b"".join(word.encode() + b"\0" + struct.pack("<qb", 10, 0) for word in words)
    matrix = np.concatenate([values, grams])
    shape = struct.pack("<?qq", quantized, *matrix.shape)
    return head + shape + matrix.astype("<f4").tobytes() + struct.pack("<?", 0)


def quantized_of(words=WORDS, labels=("__label__a",), *, width=100, buckets=2000, pruned=()):
    """What fastText's `quantize -cutoff` writes: pruned n-grams, then codes of half the width.

    Source: Joulin et al. 2016, FastText.zip; dictionary.cc, qmatrix.cc and productquantizer.cc.
    """
    head = struct.pack(
        "<ii12id", 793712314, 12, width, 5, 5, 1, 5, 2, 3, 3, buckets, 3, 6, 100, 1e-4
    )
    entries = len(words) + len(labels)
    head += struct.pack("<iiiqq", entries, len(words), len(labels), 100, len(pruned) or -1)
    for kind, names in enumerate((words, labels)):
        head += b"".join(name.encode() + b"\0" + struct.pack("<qb", 10, kind) for name in names)
    head += b"".join(struct.pack("<ii", ngram, row) for row, ngram in enumerate(pruned))
    rows = len(words) + (len(pruned) or buckets)
    head += struct.pack("<??qqi", True, False, rows, width, rows * width // 2)
    centroids = struct.pack("<iiii", width, width // 2, 2, 2) + bytes(4 * 256 * width)
    output = struct.pack("<?qq", False, len(labels), width) + bytes(4 * width * len(labels))
    return head + bytes(rows * width // 2) + centroids + output


def contents(values, grams):
    """name → bytes of a file in each format."""
    return {
        "words.bin": binary_of(values),
        "words.txt": text_of(values).encode(),
        "glove.txt": text_of(values, header=False).encode(),
        "words.vec": text_of(values).encode(),
        "native.bin": native_of(values, grams),
    }


def write_all(folder, values, grams):
    """name → path of a file in each format."""
    result = contents(values, grams)
    for name, content in result.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in result}


def make(folder, name="words.vec"):
    """A folder with one of the files and a README."""
    folder.mkdir()
    (folder / "README.md").write_text("Vectors for tests.\n")
    content = contents(random_rows(len(WORDS), 1), random_rows(20, 2))[name]
    (folder / name).write_bytes(content)
    return folder
