"""The safetensors reader and the bounded JSON under it: exact bytes, shards, and one error for anything broken."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from struct import pack

import pytest
from filewriters import safetensors_bytes, write_index, write_safetensors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costmodel.importers.files import load_json, read_json
from costmodel.importers.safetensors import BITS, Tensor, read_safetensors
from costmodel.language.problem import SpecError

GOOD = {"a": ("F32", (2, 3), 24), "b.weight": ("BF16", (4,), 8), "scalar": ("I64", (), 8), "none": ("F16", (0, 5), 0)}
quick = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def refused(path, *words: str) -> str:
    start = time.perf_counter()
    with pytest.raises(SpecError) as caught:
        read_safetensors(path)
    assert time.perf_counter() - start < 1
    message = str(caught.value)
    assert len(caught.value.problems) == 1 and Path(path).name in message
    assert all(word in message for word in words), message
    return message


def test_header_is_read(tmp_path):
    path = write_safetensors(tmp_path / "m.safetensors", GOOD, metadata={"format": "pt"})
    model = read_safetensors(path)
    assert model.path == path and model.files == [path] and model.notes == []
    assert model.file_bytes == path.stat().st_size and model.tensor_bytes == 40
    assert model.tensors[0] == Tensor("a", (2, 3), "F32", 6, 24, 0)
    assert {t.name: (t.shape, t.elements, t.bytes) for t in model.tensors[1:]} == {
        "b.weight": ((4,), 4, 8),
        "scalar": ((), 1, 8),
        "none": ((0, 5), 0, 0),
    }


@pytest.mark.parametrize("dtype", BITS)
def test_every_type_is_counted_in_bits(tmp_path, dtype):
    tensors = {"w": (dtype, (8, 3), 3 * BITS[dtype])}
    assert read_safetensors(write_safetensors(tmp_path / "m.safetensors", tensors)).tensor_bytes == 3 * BITS[dtype]
    tensors = {"w": (dtype, (8, 3), 3 * BITS[dtype] + 1)}
    refused(write_safetensors(tmp_path / "m.safetensors", tensors), f"24 elements of {dtype} take {3 * BITS[dtype]} bytes")


def test_no_tensors(tmp_path):
    model = read_safetensors(write_safetensors(tmp_path / "m.safetensors", {}))
    assert model.tensors == [] and model.tensor_bytes == 0


def entry(dtype="F32", shape=(1,), offsets=(0, 4)) -> dict:
    return {"w": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


def header(text: str, **options) -> bytes:
    return safetensors_bytes({}, header=text.encode(), **options)


HOSTILE = {
    "empty": (b"", "the file is empty"),
    "short": (b"\1\0\0", "ends inside its header: 7 bytes"),
    "header length": (pack("<Q", 2**63) + b"{}", "a header of 9,223,372,036,854,775,808 bytes"),
    "header over limit": (pack("<Q", 100_000_001) + b"{}", "at most 32,000,000"),
    "header beyond": (pack("<Q", 50) + b"{}", "48 bytes of it are missing after its 10"),
    "length 0": (pack("<Q", 0) + b"{}", "bad JSON"),
    "gguf": (b"GGUF" + bytes(60), "but a GGUF file"),
    "lfs pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "web page": (b"\n<html><body>", "a web page"),
    "pickle": (b"\x80\x02" + bytes(30), "Python pickle"),
    "zip": (b"PK\3\4" + bytes(30), "PyTorch checkpoint"),
    "plain JSON": (b'{"a": 1, "b": 2}', "but JSON"),
    "bad JSON": (header('{"a": '), "bad JSON", ":1:"),
    "not UTF-8": (safetensors_bytes({}, header=b'{"\xff": 1}'), "byte 3 is not UTF-8"),
    "twice": (header('{"a": {}, "a": {}}'), "the key `a` stands twice", ":1:11"),
    "deep": (header('{"a": ' + "[" * 70 + "]" * 70 + "}"), "more than 64 levels", ":1:70"),
    "very deep": (header('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"), "more than 64 levels"),
    "entry": (header('{"w": 3}'), "tensor `w` has no entry"),
    "dtype": (safetensors_bytes(entry("F5")), "unknown dtype `F5`", "valid: "),
    "no dtype": (safetensors_bytes(entry(7)), "unknown dtype `7`"),
    "shape": (safetensors_bytes(entry(shape="x")), "`shape` must be"),
    "shape below 0": (safetensors_bytes(entry(shape=[-1])), "`shape` must be"),
    "shape bool": (safetensors_bytes(entry(shape=[True])), "`shape` must be"),
    "shape wraps": (safetensors_bytes(entry(shape=[2**40] * 4)), "`shape` must be"),
    "shape rank": (safetensors_bytes(entry(shape=[1] * 65)), "`shape` must be"),
    "offsets": (safetensors_bytes(entry(offsets=[0, 4, 8])), "`data_offsets` must be"),
    "offsets back": (safetensors_bytes(entry(offsets=[4, 0])), "`data_offsets` must be"),
    "offset digits": (header('{"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, ' + "9" * 5000 + "]}}"), "5,000 digits"),
    "size": (safetensors_bytes(entry(shape=[2])), "2 elements of F32 take 8 bytes, and `data_offsets` span 4 bytes"),
    "half bytes": (safetensors_bytes(entry("F4", [3])), "12 bits, no whole number of bytes"),
    "hole": (safetensors_bytes(entry(offsets=[4, 8])), "4 bytes before the tensor `w` belong to no tensor"),
    "overlap": (safetensors_bytes(entry() | {"v": entry(shape=[2], offsets=[0, 8])["w"]}), "the tensors `w` and `v` overlap"),
    "tail": (safetensors_bytes(GOOD, tail=5), "5 bytes after the last tensor"),
    "cut": (safetensors_bytes(GOOD, tail=-10), "10 of ", "bytes are missing", "2 of 4 tensors are incomplete, the first is `b.weight`"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_headers(tmp_path, case):
    raw, *words = HOSTILE[case]
    path = tmp_path / "h.safetensors"
    path.write_bytes(raw)
    refused(path, *words)


def test_no_regular_file(tmp_path):
    refused(tmp_path, "this is a folder")
    refused(tmp_path / "none.safetensors", "no such file")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "a pipe")


SHARDS = {"m-1.safetensors": {"a": ("F32", (2,), 8)}, "sub.safetensors": {"b": ("BF16", (3,), 6), "c": ("U8", (1,), 1)}}


def test_shards(tmp_path):
    path = write_index(tmp_path, SHARDS)
    model = read_safetensors(path)
    assert [(t.name, t.file) for t in model.tensors] == [("a", 0), ("b", 1), ("c", 1)]
    assert [f.name for f in model.files] == list(SHARDS) and model.tensor_bytes == 15 and model.notes == []
    assert model.file_bytes == sum(f.stat().st_size for f in model.files)


def test_shards_that_do_not_fit(tmp_path):
    path = write_index(tmp_path, SHARDS, total=99)
    assert "`total_size` says 99 bytes, and the tensors take 15" in read_safetensors(path).notes[0]
    refused(write_index(tmp_path, SHARDS, more={"x": "m-1.safetensors"}), "says that `x` is in `m-1.safetensors`, and it is not")
    refused(write_index(tmp_path, SHARDS, more={"c": "m-1.safetensors"}), "says that `c` is in `m-1.safetensors`")
    refused(
        write_index(tmp_path, SHARDS | {"z.safetensors": {"a": ("U8", (1,), 1)}}, more={"a": "m-1.safetensors", "q": "z.safetensors"}),
        "in two shards",
    )
    more = write_index(tmp_path, SHARDS)
    more.write_text(json.dumps({"weight_map": {"a": "m-1.safetensors", "b": "sub.safetensors"}}))
    assert "1 tensors that the index does not name, such as `c`" in read_safetensors(more).notes[0]
    refused(write_index(tmp_path, SHARDS, more={"x": "gone.safetensors"}), "1 of the model's 3 shards is missing: `gone.safetensors`")


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../m.safetensors", "a/../../b", "C:\\m.safetensors", "..\\m", "\\\\host\\m", "", 7, None, "a\0b"]
)
def test_names_in_the_index_stay_in_its_folder(tmp_path, name):
    refused(write_index(tmp_path, SHARDS, more={"x": name}), "`weight_map`")


@pytest.mark.parametrize(
    "text", ["{}", '{"weight_map": {}}', '{"weight_map": []}', '{"weight_map": {"a": {}}}', '{"weight_map": {"a": "."}}']
)
def test_bad_index(tmp_path, text):
    path = tmp_path / "m.index.json"
    path.write_text(text)
    with pytest.raises(SpecError):
        read_safetensors(path)


def test_truncated_anywhere(tmp_path):
    raw = safetensors_bytes(GOOD)
    path = tmp_path / "p.safetensors"
    for n in range(len(raw)):
        path.write_bytes(raw[:n])
        with pytest.raises(SpecError):
            read_safetensors(path)


@quick
@given(
    st.lists(st.tuples(st.integers(0, 400), st.one_of(st.integers(0, 255), st.sampled_from(list(b'{}[]",:0-e\\')))), min_size=1, max_size=5)
)
def test_changed_bytes_give_one_error_or_a_model(tmp_path_factory, changes):
    raw = bytearray(safetensors_bytes(GOOD, metadata={"a": "b"}))
    for place, byte in changes:
        raw[place % len(raw)] = byte
    path = tmp_path_factory.getbasetemp() / "fuzz.safetensors"
    path.write_bytes(raw)
    try:
        assert read_safetensors(path).tensor_bytes == 40
    except SpecError as error:
        assert str(error)


JSON = {
    "": "bad JSON",
    "[1]": "the top level must be an object",
    '"x"': "the top level must be an object",
    '{"a": NaN}': "1:7: `NaN` is no finite number",
    '{"a": -Infinity}': "1:7: `-Infinity` is no finite number",
    '{"a": 1e999}': "1:7: `1e999` is no finite number",
    '{"a":\n  ' + "1" * 41 + "}": "2:3: an integer of 41 digits",
    '{"a": {"b": 1, "c": 2,\n "b": 3}}': "2:2: the key `b` stands twice",
    '{"a": 1, "\\u0061": 3}': "1:10: the key `a` stands twice",
    '{"a": "\u2028",\n "a": 3}': "the key `a` stands twice",
    '{"a" 1}': "1:6: bad JSON: expecting ':' delimiter",
    '{"a": tru}': "1:7: bad JSON",
    '{"a": "\\q", "a": 1}': "bad JSON",
    '{"a": 1} x': "1:10: bad JSON: extra data",
    "[" * 2000: "more than 64 levels",
}


@pytest.mark.parametrize("text", JSON)
def test_json_that_is_refused(text):
    with pytest.raises(SpecError) as caught:
        read_json(text.encode(), "c.json")
    assert JSON[text] in str(caught.value) and "c.json" in str(caught.value)


def test_json_that_is_read(tmp_path):
    text = '{"a": [1, -2.5, true, null, {"b": "ü"}], "n": ' + "9" * 40 + "}"
    assert read_json(b"\xef\xbb\xbf" + text.encode(), "c.json") == json.loads(text)
    deep = '{"a": ' * 63 + "[]" + "}" * 63
    assert read_json(deep.encode(), "c.json") == json.loads(deep)
    (tmp_path / "c.json").write_text(text)
    assert load_json(tmp_path / "c.json") == json.loads(text)


def test_json_is_bounded(tmp_path):
    with pytest.raises(SpecError, match="7 bytes of JSON; at most 6"):
        read_json(b'{"a":1}', "c.json", 6)
    path = tmp_path / "c.json"
    path.write_bytes(b"{}")
    os.truncate(path, 2**40)
    with pytest.raises(SpecError, match="at most 16,777,216 are read"):
        load_json(path)
    with pytest.raises(SpecError, match="more than 2,000,000 values"):
        read_json(b'{"a": [' + b"[]," * 3_000_000 + b"[]]}", "c.json")
    long = b'{"x": 1,\n "y": "' + b"-" * 2**20 + b'", "x": 2}'
    with pytest.raises(SpecError, match=r"c\.json: the key `x` stands twice"):
        read_json(long, "c.json")
    with pytest.raises(SpecError, match=r"c\.json: line 2, column 1,048,593: bad JSON"):
        read_json(long[:-1], "c.json")


def test_agrees_with_the_safetensors_package(tmp_path):
    numpy, package = pytest.importorskip("numpy"), pytest.importorskip("safetensors.numpy")
    arrays = {
        "w": numpy.zeros((3, 5), numpy.float32),
        "h": numpy.zeros((7,), numpy.float16),
        "i": numpy.zeros((2, 2, 2), numpy.int64),
        "b": numpy.zeros((), numpy.bool_),
    }
    path = tmp_path / "m.safetensors"
    package.save_file(arrays, path, metadata={"made": "by the package"})
    ours = read_safetensors(path)
    assert {t.name: (t.shape, t.bytes) for t in ours.tensors} == {n: (a.shape, a.nbytes) for n, a in arrays.items()}
    plain = {k: v for k, v in GOOD.items() if v[0] != "BF16"}
    assert {n: a.shape for n, a in package.load(safetensors_bytes(plain)).items()} == {n: v[1] for n, v in plain.items()}
