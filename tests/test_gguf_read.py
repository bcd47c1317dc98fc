"""The GGUF reader: what it reads, what it steps over, and that anything broken is one error, soon and in little memory."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path
from struct import pack

import pytest
import yaml
from filewriters import ARRAY, STRING, U32, U64, Raw, T, gguf_bytes, text, write_gguf, write_split
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costmodel.importers.gguf import Array, Tensor, read_gguf
from costmodel.language.problem import SpecError

TABLE = yaml.safe_load((Path(__file__).parent.parent / "specs/layouts/gguf-types.yaml").read_text())
TYPES = {
    int(number): (row["format"], row["block"], *(int(row[k].removesuffix(" B")) for k in ("size", "row") if k in row))
    for number, row in TABLE["types"].items()
}
KEYS = {
    "general.architecture": "llama",
    "llama.block_count": 2,
    "llama.rope.freq_base": 10000.0,
    "llama.flag": True,
    "llama.big": 2**40,
    "llama.low": -3,
    "llama.heads": [4, 8, 4],
    "tokenizer.ggml.tokens": [f"t{i}" for i in range(65)],
    "tokenizer.ggml.merges": ["a b", "b c"],
    "tokenizer.ggml.scores": [0.5] * 4097,
}
TENSORS = [T("a.weight", (512, 3), 12, 864), T("b.weight", (64,), 0, 256), T("c.weight", (32, 2, 2), 8, 136), T("d.weight", (7, 1), 1, 14)]
quick = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def read(path, **options):
    return read_gguf(path, TYPES, **options)


def refused(path, *words: str, traced: bool = True) -> str:
    """The one message, which comes within a second and (when traced) in less than 50 MB."""
    start = time.perf_counter()
    with pytest.raises(SpecError) as caught:
        read(path)
    assert time.perf_counter() - start < 1
    message = str(caught.value)
    assert len(caught.value.problems) == 1 and Path(path).name in message
    assert all(word in message for word in words), message
    if traced:
        tracemalloc.start()
        with pytest.raises(SpecError):
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 50e6
    return message


@pytest.mark.parametrize("version", [2, 3])
def test_header_is_read(tmp_path, version):
    path = write_gguf(tmp_path / "m.gguf", KEYS, TENSORS, version=version)
    model = read(path)
    assert model.version == version and model.path == path and model.files == [path] and model.notes == []
    assert model.file_bytes == path.stat().st_size and model.data_start % 32 == 0
    assert model.keys["tokenizer.ggml.tokens"] == Array("string", 65)
    assert model.keys["tokenizer.ggml.scores"] == Array("f32", 4097)
    short = {k: v for k, v in KEYS.items() if k not in ("tokenizer.ggml.tokens", "tokenizer.ggml.scores")}
    assert {k: v for k, v in model.keys.items() if k in short} == short
    assert model.tensors[0] == Tensor("a.weight", (512, 3), "q4_k", 12, 1536, 864, 0, 0)
    assert [(t.type, t.elements, t.bytes) for t in model.tensors[1:]] == [("fp32", 64, 256), ("q8_0", 128, 136), ("fp16", 7, 14)]


def test_other_alignment_and_missing_padding_at_the_end(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", {"general.alignment": 4096}, TENSORS)
    path.write_bytes(path.read_bytes()[: -4096 + 14])
    assert read(path).data_start == 4096 and read(path).tensors[1].offset == 4096


def test_rows_of_a_type_may_have_a_prefix(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", {}, [T("w", (512, 5), 144, 5 * (4 + 2 * 136))])
    assert read(path).tensors[0].bytes == 1380 and read(path).tensors[0].type == "iq4_ks"


def test_long_and_odd_text_values(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", {"long": "x" * (2**20 + 1), "odd": Raw(STRING, text(b"a\xffb")), "last": 7})
    keys = read(path).keys
    assert keys == {"long": Array("byte", 2**20 + 1), "odd": "a\ufffdb", "last": 7} and read(path).tensors == []


def test_nested_arrays_are_stepped_over(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", {"n": [[[[1, 2]], [[3]]]], "last": 7})
    assert read(path).keys == {"n": Array("array", 1), "last": 7}
    refused(write_gguf(tmp_path / "deep.gguf", {"n": [[[[[1]]]]]}), "nested more than 4 deep")


def test_a_large_vocabulary_is_stepped_over_quickly(tmp_path):
    vocabulary = pack("<IQ", STRING, 500_000) + b"".join(text(f"token{i}") for i in range(500_000))
    path = write_gguf(tmp_path / "m.gguf", {"tokenizer.ggml.tokens": Raw(ARRAY, vocabulary), "last": 7}, TENSORS)
    best = 9.0
    for _ in range(5):
        start = time.perf_counter()
        model = read(path)
        best = min(best, time.perf_counter() - start)
    assert model.keys == {"tokenizer.ggml.tokens": Array("string", 500_000), "last": 7}
    assert best < 0.2


@pytest.mark.parametrize("given_part", [0, 2])
def test_split_files_are_merged_in_order(tmp_path, given_part):
    paths = write_split(tmp_path, "m", KEYS, [[], TENSORS[:3], TENSORS[3:]])
    model = read(paths[given_part])
    assert model.files == paths and model.path == paths[given_part] and model.keys["llama.block_count"] == 2
    assert [t.name for t in model.tensors] == [t.name for t in TENSORS]
    assert [t.file for t in model.tensors] == [1, 1, 1, 2]
    assert model.file_bytes == sum(p.stat().st_size for p in paths)


def test_split_files_that_do_not_fit(tmp_path):
    paths = write_split(tmp_path, "m", KEYS, [TENSORS[:1], TENSORS[1:2], TENSORS[2:]])
    paths[1].rename(tmp_path / "away.gguf")
    message = refused(paths[2], "1 of the model's 3 parts is missing: `m-00002-of-00003.gguf`")
    assert f"put all parts into `{tmp_path}`" in message
    refused(tmp_path / "away.gguf", "this is part 2 of 3", "name the parts like")
    (tmp_path / "away.gguf").rename(tmp_path / "m-00009-of-00009.gguf")
    refused(tmp_path / "m-00009-of-00009.gguf", "by its name this is part 9 of 9, by its header part 2 of 3")
    (paths[1]).write_bytes(paths[0].read_bytes())
    with pytest.raises(SpecError, match="by its header this is part 1 of 3, not part 2 of 3"):
        read(paths[0])
    refused(write_split(tmp_path, "t", {}, [TENSORS[:1], TENSORS[:1]])[0].with_name("t-00001-of-00002.gguf"), "also stands in")
    refused(write_split(tmp_path, "n", {}, [TENSORS[:1], TENSORS[1:]], total=9)[0], "has 9 tensors by its header", "hold 4")
    alone = write_gguf(tmp_path / "u-00001-of-00002.gguf", KEYS, TENSORS)
    assert "read alone" in read(alone).notes[0]
    refused(write_gguf(tmp_path / "k.gguf", {"split.count": "two"}), "`split.count` must be a whole number")


def test_truncated_download_says_what_is_missing(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", KEYS, TENSORS)
    start = read(path).data_start
    raw = path.read_bytes()
    path.write_bytes(raw[: start + 864 + 100])
    need = start + 864 + 256 + 160 + 14
    said = f"{need - start - 964:,} of {need:,} bytes are missing (the file has {start + 964:,}); 3 of 4 tensors are incomplete"
    refused(path, said, "the first is `b.weight`")
    model = read(path, whole=False)
    assert said in model.notes[0] and len(model.tensors) == 4
    path.write_bytes(raw[: start - 32])
    refused(path, "ends inside its header", "bytes are missing after its")


def header(**options) -> bytes:
    return gguf_bytes(options.pop("keys", {}), options.pop("tensors", ()), **options)


def one(*tensors, **keys) -> bytes:
    return gguf_bytes(keys, tensors)


HOSTILE = {
    "empty": (b"", "the file is empty"),
    "short": (b"GGU", "no GGUF file"),
    "no version": (b"GGUF\3", "before its version"),
    "version 1": (pack("<4sIII", b"GGUF", 1, 0, 0), "version 1"),
    "version 9": (header(version=9), "version 9 is not known"),
    "big endian": (header(keys=KEYS, tensors=TENSORS, order=">"), "big-endian"),
    "before gguf": (b"tjgg" + bytes(40), "before GGUF"),
    "lfs pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "web page": (b"<!DOCTYPE html><html>", "a web page"),
    "safetensors": (pack("<Q", 2) + b"{}      ", "but a safetensors file"),
    "tensor count": (header(counts=(2**63, 0)), "tensors; at most"),
    "tensor list": (header(counts=(90_000, 0)), "the list of 90,000 tensors"),
    "key count": (header(counts=(0, 2**40)), "metadata keys; at most"),
    "key list": (header(counts=(0, 90_000)), "the 90,000 metadata keys"),
    "key name length": (header(counts=(0, 1), data=False) + pack("<Q", 2**62) + bytes(40), "4,611,686,018,427,387,904 bytes; at most 256"),
    "key name bytes": (header(keys={"k" * 257: 1}), "257 bytes; at most 256"),
    "key name text": (header(counts=(0, 1), data=False) + text(b"\xff\xfe") + bytes(40), "not UTF-8"),
    "key twice": (header(keys={"k": 1}, twice=[("k", 2)]), "the key `k` stands twice"),
    "value type": (header(keys={"k": Raw(13, bytes(8))}), "unknown type 13"),
    "array type": (header(keys={"k": Raw(ARRAY, pack("<IQ", 99, 1) + bytes(8))}), "array of the unknown type 99"),
    "text length": (header(keys={"k": Raw(STRING, pack("<Q", 2**64 - 1))}), "bytes; at most 67,108,864"),
    "text beyond": (header(keys={"k": Raw(STRING, pack("<Q", 2**25))}), "ends inside its header, in the value of `k`"),
    "array length": (header(keys={"k": Raw(ARRAY, pack("<IQ", U64, 2**61))}), "would end"),
    "string array length": (header(keys={"k": Raw(ARRAY, pack("<IQ", STRING, 2**61))}), "would end"),
    "string in array": (header(keys={"k": Raw(ARRAY, pack("<IQ", STRING, 99) + pack("<Q", 2**64 - 1) * 99)}), "would end"),
    "array array length": (header(keys={"k": Raw(ARRAY, pack("<IQ", ARRAY, 2**61))}), "would end"),
    "alignment 0": (header(keys={"general.alignment": 0}), "`general.alignment` is 0"),
    "alignment 24": (header(keys={"general.alignment": 24}), "power of two"),
    "alignment large": (header(keys={"general.alignment": 2**21}, data=False), "at most 1,048,576"),
    "alignment text": (header(keys={"general.alignment": "32"}), "must be a whole number"),
    "no dimension": (one(T("w", (), 0, 4)), "0 dimensions"),
    "five dimensions": (one(T("w", (1, 1, 1, 1, 1), 0, 4)), "5 dimensions"),
    "dimension 0": (one(T("w", (4, 0), 0, 4)), "no dimension may be 0"),
    "elements": (one(T("w", (2**32, 2**32), 0, 4)), "at most 2^50"),
    "elements wrap": (one(T("w", (2**32, 2**32, 2**32, 2**32), 0, 4)), "at most 2^50"),
    "tensor type": (one(T("w.odd", (4,), 36, 4)), "tensor `w.odd` has the type number 36"),
    "rows": (one(T("w", (300, 2), 12, 288)), "rows of 300 are no multiple of the 256"),
    "unaligned": (one(T("w", (4,), 0, 16, 8)), "no multiple of 32"),
    "overlap": (one(T("v", (16,), 0, 64), T("w", (4,), 0, 16, 32)), "the tensors `v` and `w` overlap"),
    "offset": (gguf_bytes({}, [T("w", (4,), 0, 16, 2**62)], data=False), "no model file is as long"),
    "tensor twice": (one(T("w", (4,), 0, 16), T("w", (4,), 0, 16)), "the tensor `w` stands twice"),
    "tensor name": (one(T(b"\xff", (4,), 0, 16)), "not UTF-8"),
    "tensor name length": (one(T("w" * 300, (4,), 0, 16)), "300 bytes; at most 256"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_headers(tmp_path, case):
    raw, *words = HOSTILE[case]
    path = tmp_path / "h.gguf"
    path.write_bytes(raw)
    refused(path, *words)


def test_memory_is_bounded(tmp_path):
    """Well-formed bulk: many texts, many arrays, nested ones; all in files whose size would allow it."""
    texts = {f"k{i}": "x" * 2**20 for i in range(8)}
    refused(write_gguf(tmp_path / "texts.gguf", texts), "over 16 MiB of values")
    numbers = {f"k{i}": Raw(ARRAY, pack("<IQ", 0, 4096) + bytes(4096)) for i in range(200)}
    refused(write_gguf(tmp_path / "numbers.gguf", numbers), "over 16 MiB of values")
    inner = pack("<IQ", U32, 0) * 200_000
    refused(write_gguf(tmp_path / "nested.gguf", {"k": Raw(ARRAY, pack("<IQ", ARRAY, 200_000) + inner)}), "over 16 MiB of values")


def test_sparse_giants_are_refused_soon(tmp_path):
    """A file may claim terabytes: nothing is stepped over, one by one, more than a few million times."""
    strings = pack("<IQ", STRING, 2**36)
    nested = pack("<IQ", ARRAY, 2) + (pack("<IQ", STRING, 1_200_000) + bytes(8 * 1_200_000)) * 2
    for name, raw in {"one": header(keys={"k": Raw(ARRAY, strings)}), "two": header(keys={"k": Raw(ARRAY, nested)}, data=False)}.items():
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(raw)
        os.truncate(path, 2**40)
        refused(path, "2 million strings", traced=False)
    path.write_bytes(header(counts=(100_000, 0)))
    os.truncate(path, 2**33)
    refused(path, "0 dimensions")


def test_no_regular_file(tmp_path):
    refused(tmp_path, "this is a folder")
    refused(tmp_path / "none.gguf", "no such file")
    os.mkfifo(tmp_path / "pipe.gguf")
    refused(tmp_path / "pipe.gguf", "a pipe")
    os.symlink(tmp_path / "a.gguf", tmp_path / "b.gguf")
    os.symlink(tmp_path / "b.gguf", tmp_path / "a.gguf")
    refused(tmp_path / "a.gguf", "leads back to itself")
    refused("/dev/zero", "a device")
    refused(tmp_path / ("x" * 256), "cannot be opened")
    with pytest.raises(SpecError, match="cannot be a file's name"):
        read("a\0b.gguf")


def test_truncated_anywhere(tmp_path):
    raw = gguf_bytes({k: v for k, v in KEYS.items() if "scores" not in k}, TENSORS)
    path = tmp_path / "p.gguf"
    for n in range(len(raw) - 18):
        path.write_bytes(raw[:n])
        with pytest.raises(SpecError):
            read(path)


@quick
@given(st.lists(st.tuples(st.integers(0, 1500), st.one_of(st.integers(0, 255), st.sampled_from([0, 1, 255]))), min_size=1, max_size=6))
def test_changed_bytes_give_one_error_or_a_model(tmp_path_factory, changes):
    raw = bytearray(FUZZED)
    for place, byte in changes:
        raw[place % len(raw)] = byte
    path = tmp_path_factory.getbasetemp() / "fuzz.gguf"
    path.write_bytes(raw)
    start = time.perf_counter()
    try:
        model = read(path, whole=len(changes) % 2 == 0)
        assert all(t.bytes > 0 and t.elements > 0 for t in model.tensors)
    except SpecError as error:
        assert str(error)
    assert time.perf_counter() - start < 1


FUZZED = gguf_bytes({k: v for k, v in KEYS.items() if "tokenizer" not in k} | {"n": [["x", "y"], ["z"]]}, TENSORS, data=False)


def test_agrees_with_the_gguf_package(tmp_path):
    gguf, numpy = pytest.importorskip("gguf"), pytest.importorskip("numpy")
    writer = gguf.GGUFWriter(tmp_path / "w.gguf", "llama")
    writer.add_block_count(3)
    writer.add_rope_freq_base(5e5)
    writer.add_token_list([f"token {i}" for i in range(1000)])
    writer.add_head_count_kv([2, 2, 4])
    writer.add_tensor("half", numpy.zeros((3, 70), numpy.float16))
    for name in ("Q4_K", "Q6_K", "Q8_0", "IQ4_XS", "MXFP4", "TQ1_0"):
        kind = gguf.GGMLQuantizationType[name]
        rows = gguf.quant_shape_to_byte_shape((4, 512), kind)
        writer.add_tensor(name.lower(), numpy.zeros(rows, numpy.uint8), raw_dtype=kind)
    for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        write()
    theirs, ours = gguf.GGUFReader(tmp_path / "w.gguf"), read(tmp_path / "w.gguf")
    assert [(t.name, t.shape, t.type_id, t.elements, t.bytes) for t in ours.tensors] == [
        (t.name, tuple(map(int, t.shape)), int(t.tensor_type), int(t.n_elements), int(t.n_bytes)) for t in theirs.tensors
    ]
    assert [ours.data_start + t.offset for t in ours.tensors] == [int(t.data_offset) for t in theirs.tensors]
    for name, field in theirs.fields.items():
        if not name.startswith("GGUF."):
            value = ours.keys[name]
            assert value == (Array("string", 1000) if name.endswith("tokens") else field.contents()), name
    for kind, (block, size) in gguf.GGML_QUANT_SIZES.items():
        assert TYPES[int(kind)][1:3] == (block, size)
