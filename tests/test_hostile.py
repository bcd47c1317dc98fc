"""Hostile documents and arguments: refused with one located message and exit code 2; never a traceback, a hang or a side effect."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from costmodel import api, cache, library
from costmodel.cli import main
from costmodel.schema import KINDS, model_of

LIMIT = 1.5  # seconds; the contract says one, the rest is for slow test machines
MODEL = """schema: costmodel/model@1
name: m
architecture: decoder
dims: {L: 2, d: 64, n_q: 4, n_kv: 2, d_ff: 128, vocab: 100}
weights: {format: bf16}
"""
HARDWARE = """schema: costmodel/hardware@1
name: h
extends: nvidia-geforce
memory: {vram: {capacity: 24 GiB, bandwidth: 1008 GB/s}}
compute: {fp32: 82.58 TFLOP/s, fp16: 165.2 TFLOP/s}
"""
TECHNIQUE = """schema: costmodel/technique@1
name: t
knobs:
  n: {default: 4, range: [1, 16], whole: true}
  c: {default: a, one_of: [a, b]}
schedule: {decode: {T: n}}
"""
ONE_ROW = """schema: costmodel/model@1
name: m
dims: {L: 2, d: 64}
blocks: {x: {repeat: L, ops: {r: {op: ./o.yaml, role: body, a: d}}}}
"""
PREDICT = ("predict", "./m.yaml", "--hw", "./h.yaml")
X = ("validate", "./x.yaml")
PLACE = re.compile(r"^(?:error: )?.+?:\d+:\d+: ", re.M)
CARET = re.compile(r"^ +\| +\^", re.M)


class Bench:
    """A folder of documents, and the command line run on it in this process."""

    def __init__(self, folder: Path, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        for name, text in {"m.yaml": MODEL, "h.yaml": HARDWARE, "t.yaml": TECHNIQUE}.items():
            self.write(name, text)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def run(self, *args: str, limit: float = LIMIT, color: bool = False):
        """The click result; a crash is re-raised, a run past `limit` seconds of computing (or a minute of waiting) too."""
        self.monkeypatch.setattr(library, "_shared", None)
        self.monkeypatch.setattr(api, "_runnables", {})

        def stop(*_):
            pytest.fail(f"still running after {limit} s")  # no subclass of Exception: nothing in between catches it

        clocks = ((signal.SIGPROF, signal.ITIMER_PROF, limit), (signal.SIGALRM, signal.ITIMER_REAL, 60))
        old = [signal.signal(number, stop) for number, _, _ in clocks]
        for _, timer, seconds in clocks:
            signal.setitimer(timer, seconds)
        try:
            result = CliRunner().invoke(main, list(args), color=color)
        finally:
            for (number, timer, _), before in zip(clocks, old, strict=True):
                signal.setitimer(timer, 0)
                signal.signal(number, before)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def refused(self, *args: str, place: bool = True, limit: float = LIMIT) -> str:
        """stderr of a run that must be refused."""
        result = self.run(*args, limit=limit)
        assert result.exit_code == 2, result.output[:300]
        assert result.stdout == ""
        assert result.stderr.strip()
        assert "Traceback" not in result.stderr
        assert "[Errno" not in result.stderr, "an operating-system error instead of a message"
        if place:
            assert PLACE.search(result.stderr), result.stderr
            assert CARET.search(result.stderr), result.stderr
        return result.stderr


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSTMODEL_CACHE", "off")
    return Bench(tmp_path, monkeypatch)


def case(name: str, files: dict, args, *needles: str, place: bool = True):
    return pytest.param(files, tuple(args), needles, place, id=name)


def model(old: str, new: str) -> dict:
    assert old in MODEL
    return {"m.yaml": MODEL.replace(old, new)}


def more(text: str) -> dict:
    return {"m.yaml": MODEL + text}


def machine(old: str, new: str) -> dict:
    assert old in HARDWARE
    return {"h.yaml": HARDWARE.replace(old, new)}


def operator(body: str, args: str = "{a: dim}") -> dict:
    return {"m.yaml": ONE_ROW, "o.yaml": f"schema: costmodel/operator@1\nname: o\nargs: {args}\n{body}\n"}


def technique(body: str, name: str = "t") -> dict:
    return {f"{name}.yaml": f"schema: costmodel/technique@1\nname: {name}\n{body}\n"}


def rewrite(item: str, name: str = "t") -> dict:
    return technique(f"rewrite: [{item}]", name)


def schedule(body: str, name: str = "t") -> dict:
    return technique(f"schedule: {{{body}}}", name)


def study(body: str) -> dict:
    base = "base: {model: ./m.yaml, hardware: ./h.yaml}\n"
    return {"s.yaml": f"schema: costmodel/study@1\nname: s\n{'' if 'base:' in body else base}{body}\n"}


def flops(formula: str) -> dict:
    return operator(f"flops: {formula}")


def sets(*texts: str) -> tuple:
    return (*PREDICT, *(x for t in texts for x in ("--set", t)))


def using(*texts: str) -> tuple:
    return (*PREDICT, *(x for t in texts for x in ("-t", t)))


def x(text: str | bytes) -> dict:
    return {"x.yaml": text}


HEAD = "schema: costmodel/hardware@1\nname: x\n"
T = using("./t.yaml")
MATRIX = ("matrix", "./s.yaml")

YAML = [
    case("empty", x(""), X, place=False),
    case("blank", x(" \n\n"), X, place=True),
    case("comment only", x("# hello\n"), X, "mapping"),
    case("list at top", x("- a\n"), X, "mapping"),
    case("scalar at top", x("foo\n"), X, "mapping"),
    case("null at top", x("null\n"), X, "mapping"),
    case("utf-16", x(HEAD.encode("utf-16")), X, "UTF-8", place=False),
    case("latin-1", x(HEAD.encode() + b"title: \xe9\n"), X, "x.yaml:3:8", "UTF-8"),
    case("surrogate bytes", x(HEAD.encode() + b"title: \xed\xa0\x80\n"), X, "x.yaml:3:8", "UTF-8"),
    case("NUL", x(b"a: \x00\n"), X, "x.yaml:1:4", "U+0000"),
    case("bell", x(b"a: 1\nb: \x07\n"), X, "x.yaml:2:4", "U+0007"),
    case("raw escape", x(HEAD + "title: \x1b[31m\n"), X, "x.yaml:3:8", "U+001B"),
    case("C1 control", x(HEAD + "title: \x9b31m\n"), X, "x.yaml:3:"),
    case("U+FFFE", x(HEAD + "title: \ufffe\n"), X, "x.yaml:3:"),
    case("tab indent", x("a:\n\tb: 1\n"), X, "x.yaml:2:1"),
    case("crlf", x((HEAD + "foo: 1\n").replace("\n", "\r\n")), X, "x.yaml:3:1", "unknown field"),
    case("cr", x((HEAD + "foo: 1\n").replace("\n", "\r")), X, "x.yaml:3:1", "unknown field"),
    case("two documents", x("---\n" + HEAD + "---\n" + HEAD), X, "x.yaml:4:1", "second"),
    case("python tag", x("a: !!python/object/apply:os.system ['touch pwned']\n"), X, "x.yaml:1:4", "tag"),
    case("python name", x("a: !!python/name:os.system\n"), X, "tag"),
    case("plain tag", x(HEAD + "title: !!str 5\n"), X, "x.yaml:3:8", "tag"),
    case("custom tag", x("%TAG ! tag:x,2000:\n---\n!foo\n" + HEAD), X, "tag"),
    case("binary tag", x(HEAD + "title: !!binary aGk=\n"), X, "tag"),
    case("anchor and alias", x("a: &x 1\nb: *x\n"), X, "x.yaml:1:4", "x.yaml:2:4", "anchor `&x`", "alias `*x`"),
    case("undefined alias", x("a: *nope\n"), X, "alias"),
    case(
        "alias bomb",
        x("a: &a [x,x]\n" + "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))),
        X,
        "alias",
    ),
    case("merge key", x("<<: {a: 1}\n" + HEAD), X, "<<", "unknown field"),
    case("merge key with alias", x("a: &a {b: 1}\n<<: *a\n"), X, "alias"),
    case("duplicate key", x(HEAD + "name: y\n"), X, "x.yaml:3:1", "x.yaml:2:1", "twice"),
    case(
        "duplicate nested key", x(HEAD + "memory: {v: {bandwidth: 1 GB/s, bandwidth: 2 GB/s}}\n"), X, "x.yaml:3:33", "x.yaml:3:14", "twice"
    ),
    case("null in a flow map", x(HEAD + "memory: {v: {bandwidth}}\n"), X, "x.yaml:3:", "no value"),
    case("comma in a flow map", x(HEAD + "title: {en: a, b, ko: c}\n"), X, "`b` has no value", "quote"),
    case("50 levels", x("a: " + "[" * 50 + "]" * 50 + "\n"), X, "nested"),
    case("100,000 brackets", x("a: " + "[" * 100_000), X, "nest"),
    case("100,000 braces", x("{" * 100_000), X, "nest"),
    case("100,000 dashes", x("- " * 100_000), X, "nested"),
    case("60 block levels", x("".join(" " * i + "a:\n" for i in range(60))), X, "nested"),
    case("2 MB", x("a: " + "x" * (2 << 20)), X, "x.yaml:1:1", "bytes", place=False),
    case("1 MB string never closed", x(HEAD + 'title: "' + "x" * 1_000_000), X, "not valid YAML"),
    case("sequence as a key", x("? [a]\n: b\n"), X, "plain text"),
    case("mapping as a key", x("{a: b}: c\n"), X, "plain text"),
    case("number as a field", x(HEAD + "5: 6\n"), X, "x.yaml:3:1", "unknown field"),
    case("empty field", x(HEAD + "'': 6\n"), X, "unknown field"),
    case("no schema line", x("name: x\n"), X, "schema"),
    case("newer version", x(HEAD.replace("@1", "@2")), X, "x.yaml:1:9", "hardware@1"),
    case("no version", x(HEAD.replace("@1", "")), X, "hardware@1"),
    case("misspelt kind", x(HEAD.replace("hardware", "hardwear")), X, "`hardware`"),
    case("schema is a list", x(HEAD.replace("costmodel/hardware@1", "[a]")), X, "schema"),
    case("leading zero", x(HEAD + "usable: 01\n"), X, "x.yaml:3:9", "leading zero"),
    case("infinity", x(HEAD + "usable: .inf\n"), X, "x.yaml:3:9", "finite"),
    case("not a number", x(HEAD + "usable: .nan\n"), X, "finite"),
    case("minus zero", x(HEAD + "usable: -0\n"), X, "greater than 0"),
    case("5,000 digits", x(HEAD + "usable: " + "9" * 5000 + "\n"), X, "digits"),
    case("1e999", x(HEAD + "usable: 1e999\n"), X, "too large"),
    case(
        "several problems at once",
        x(HEAD + "usable: 5\nfoo: 1\nmemory: {v: {bandwidth: 5, fob: 3}}\n"),
        X,
        "x.yaml:3:9",
        "x.yaml:4:1",
        "x.yaml:5:25",
        "x.yaml:5:28",
    ),
    case("20,000 duplicate keys", x("a: 1\n" * 20_000), X, "twice"),
    case("20,000 anchors", x("a: [" + "&a 1," * 20_000 + "]"), X, "anchor"),
    case(
        "10,000 unknown fields",
        x(HEAD + "".join(f"foo{i}: 1\n" for i in range(10_000))),
        X,
        "unknown field",
    ),
    case("name: path", x(HEAD.replace("name: x", "name: ../../etc/passwd")), X, "x.yaml:2:7", "not a valid name"),
    case("name: 500 characters", x(HEAD.replace("name: x", "name: " + "a" * 500)), X, "x.yaml:2:7"),
    case("name: full-width", x(HEAD.replace("name: x", "name: ｘ")), X, "not a valid name"),
    case("name: cyrillic look-alike", x(HEAD.replace("name: x", "name: х")), X, "not a valid name"),
    case("name: line break", x(HEAD.replace("name: x", 'name: "x\\n"')), X, "not a valid name"),
    case("name: number", x(HEAD.replace("name: x", "name: 5")), X, "text"),
]

FORMULAS = [
    case("import", flops("\"__import__('os').system('touch pwned')\""), PREDICT, "o.yaml:4:"),
    case("attribute", flops("a.__class__"), PREDICT, "attribute"),
    case("method", flops("'(1).real'"), PREDICT, "attribute"),
    case("lambda", flops("'lambda: 1'"), PREDICT, "`lambda`"),
    case("comprehension", flops("'[q for q in (1, 2)]'"), PREDICT),
    case("generator", flops("'max(q for q in (1, 2))'"), PREDICT),
    case("f-string", flops("'f\"{a}\"'"), PREDICT),
    case("text", flops("'\"a\"'"), PREDICT, "only numbers and names"),
    case("template", flops("'{{7*7}}'"), PREDICT),
    case("conditional", flops("a if a else B"), PREDICT),
    case("walrus", flops("'(q := 5)'"), PREDICT),
    case("star", flops("max(*a)"), PREDICT),
    case("keyword argument", flops("max(a, key=B)"), PREDICT),
    case("index", flops("a[0]"), PREDICT),
    case("dunder", flops("__builtins__"), PREDICT),
    case("eval", flops("\"eval('1')\""), PREDICT, "no function `eval`"),
    case("unknown function", flops("ciel(a)"), PREDICT, "`ceil`"),
    case("function as a name", flops("ceil * 2"), PREDICT, "function"),
    case("bit operators", flops("a ^ 2"), PREDICT, "`**`"),
    case("whole division", flops("a // 2"), PREDICT, "floor"),
    case("9**9**9", flops("9**9**9"), PREDICT, "exponent"),
    case("2**1e9", flops("2**1e9"), PREDICT, "exponent"),
    case("negative exponent", flops("2**-1"), PREDICT, "exponent"),
    case("fractional exponent", flops("2**0.5"), PREDICT, "exponent"),
    case("3,000 parentheses", flops("'" + "(" * 3000 + "a" + ")" * 3000 + "'"), PREDICT),
    case("100 parentheses", flops("'" + "(" * 100 + "a" + ")" * 100 + "'"), PREDICT, "nested"),
    case("5,000 minus signs", flops("'" + "-" * 5000 + "a'"), PREDICT),
    case("300 minus signs", flops("'" + "-" * 300 + "a'"), PREDICT, "nested"),
    case("20,000 plus signs", flops("'" + "a+" * 20_000 + "a'"), PREDICT, "characters"),
    case("400 nines", flops("'" + "9" * 400 + " * a'"), PREDICT, "too large"),
    case("1e400", flops("1e400 * a"), PREDICT, "too large"),
    case("imaginary", flops("1j * a"), PREDICT),
    case("unicode identifier", flops("ａ * 2"), PREDICT, "not allowed"),
    case("cyrillic identifier", flops("а * 2"), PREDICT, "not allowed"),
    case("superscript", flops("a²"), PREDICT, "not allowed"),
    case("empty", flops("''"), PREDICT, "empty"),
    case("chained comparison", flops("where(1 < a < 3, 1, 2)"), PREDICT, "one comparison"),
    case("NUL", flops('"a\\0"'), PREDICT),
    case("unknown name", flops("B * q"), PREDICT, "o.yaml:4:8", "`q`"),
    case("wrong dimension", operator("bytes: {kv: B * T}"), PREDICT, "o.yaml:4:", "count", "byte"),
    case("adds bytes to counts", operator("bytes: {kv: B * kv_bytes + 1}"), PREDICT, "cannot add"),
    case("per-group name in weight bytes", operator("bytes: {weights: a * B * w_bytes}"), PREDICT, "`B`"),
    case("let in a circle", operator("let: {p: q, q: p}\nflops: p * B"), PREDICT, "circle"),
    case("constant division by zero", flops("a / 0"), PREDICT, "division by zero"),
    case("division by zero in decode", flops("B * T / (T - 1)"), PREDICT),
    case("log of nothing", flops("B * log2(S - 5000)"), PREDICT),
    case("root of a negative", flops("B * sqrt(S - 5000)"), PREDICT),
    case("overflow in the program", flops("((B * 1e30) ** 8) ** 8"), PREDICT),
    case("infinite flops", flops("((B * 1e30) ** 8) * 1e30 * 1e30 * 1e30"), PREDICT),
    case(
        "let of 400 steps",
        operator("let: {v0: B, " + ", ".join(f"v{i}: v{i - 1} + T" for i in range(1, 401)) + "}\nflops: v400"),
        PREDICT,
    ),
    case(
        "let nested 210 deep",
        operator("let: {v0: B, " + ", ".join(f"v{i}: (v{i - 1} + B) * T" for i in range(1, 211)) + "}\nflops: v210"),
        PREDICT,
    ),
    case(
        "division by zero in inspect",
        operator("holds: {kv: B * S * kv_bytes / (S - 1)}\nflops: B * T"),
        ("inspect", "./m.yaml"),
    ),
    case(
        "parameters that depend on B",
        operator("flops: B * T\nparams: B * 5"),
        PREDICT,
    ),
    case("negative flops", flops("0 - B * T"), PREDICT),
    case("negative bytes", operator("flops: B * T\nbytes: {activations: (0 - B) * a_bytes}"), PREDICT),
    case("negative parameters", operator("flops: B * T\nparams: 0 - 5"), PREDICT),
    case("default of an argument", operator("flops: B * T * z", "{a: dim, z: {default: 1/0}}"), PREDICT, "division by zero"),
    case(
        "unused default of an argument",
        operator("flops: B * T", "{a: dim, z: {default: 1/0}}"),
        ("validate", "./o.yaml"),
    ),
    case(
        "an argument that hides B",
        operator("flops: B * T", "{a: dim, B: {default: 3}}"),
        ("validate", "./o.yaml"),
    ),
    case(
        "argument type that is no type",
        operator("flops: B * T", "{a: 'lambda: 1'}"),
        ("validate", "./o.yaml"),
    ),
    case("comment in a formula", flops("'B * T # + a'"), PREDICT),
]

MODELS = [
    case("negative dim", model("d: 64", "d: -1"), PREDICT, "m.yaml:4:17", "-1"),
    case("huge dim", model("d: 64", "d: 1e30"), PREDICT, "m.yaml:4:17"),
    case("text dim", model("d: 64", "d: abc"), PREDICT, "m.yaml:4:17"),
    case("boolean dim", model("d: 64", "d: true"), PREDICT, "m.yaml:4:17"),
    case("list dim", model("d: 64", "d: [1]"), PREDICT, "m.yaml:4:17"),
    case("null dim", model("d: 64", "d: null"), PREDICT, "m.yaml:4:17", "no value"),
    case("dim of another unit", model("d: 64", "d: 5 GB/s"), PREDICT, "m.yaml:4:17"),
    case("dim of itself", model("d: 64", "d: '= d'"), PREDICT, "circle"),
    case("dims in a circle", model("L: 2", "L: '= p', p: '= q', q: '= L'"), PREDICT, "circle", "p -> q"),
    case("unknown dim", model("d_ff: 128", "d_ff: '= n_qq * 2'"), PREDICT, "m.yaml:4:", "`n_q`"),
    case("dim divided by zero", model("d: 64", "d: '= L / 0'"), PREDICT, "m.yaml:4:17", "division by zero"),
    case("zero heads", model("n_q: 4", "n_q: 0"), PREDICT, "division by zero"),
    case(
        "constant dim divided by zero",
        model("d: 64", "d: '= 1/0'"),
        PREDICT,
        "m.yaml:4:17",
        "division by zero",
    ),
    case(
        "3,000 dims in reverse",
        model("L: 2", "L: 2, " + ", ".join(f"v{i}: '= v{i + 1}'" for i in range(3000)) + ", v3000: 1"),
        PREDICT,
    ),
    case("fractional layers", model("L: 2", "L: 1.5"), PREDICT, "1.5", "whole number"),
    case("negative repeat", more("blocks: {layer: {repeat: -1}}\n"), PREDICT, "m.yaml:6:", "-1"),
    case("fractional repeat", more("blocks: {layer: {repeat: L / 3}}\n"), PREDICT, "m.yaml:6:", "whole number"),
    case(
        "huge repeat",
        more("blocks: {layer: {repeat: 1e30}}\n"),
        PREDICT,
        "m.yaml:6:",
    ),
    case("repeat divided by zero", more("blocks: {layer: {repeat: 1/0}}\n"), PREDICT, "m.yaml:6:26", "division by zero"),
    case("repeat of an unknown dim", more("blocks: {layer: {repeat: LL}}\n"), PREDICT, "m.yaml:6:26", "`LL`"),
    case(
        "repeat of a workload name",
        more("blocks: {layer: {repeat: B}}\n"),
        PREDICT,
        "m.yaml:6:26",
    ),
    case(
        "argument of a workload name",
        more("blocks: {z: {ops: {r: {op: linear, role: head, d_in: B, d_out: 2}}}}\n"),
        PREDICT,
        "m.yaml:6:",
    ),
    case(
        "argument of a symbol",
        more("blocks: {z: {ops: {r: {op: linear, role: head, d_in: kept, d_out: 2}}}}\n"),
        PREDICT,
        "m.yaml:6:",
    ),
    case(
        "when of a workload name",
        more("blocks: {z: {ops: {r: {op: linear, role: head, d_in: 5, d_out: 2, when: B}}}}\n"),
        PREDICT,
        "m.yaml:6:",
    ),
    case("unknown operator", more("blocks: {layer: {ops: {q: {op: lineer}}}}\n"), PREDICT, "m.yaml:6:32", "`linear`"),
    case("operator by path", more("blocks: {layer: {ops: {q: {op: ../../../../../../../etc/passwd}}}}\n"), PREDICT, "m.yaml:6:32"),
    case(
        "abstract operator",
        more("blocks: {z: {ops: {q: {op: attention, role: head, heads: 1, kv_heads: 1, width: 1}}}}\n"),
        PREDICT,
        "abstract",
    ),
    case("missing argument", more("blocks: {z: {ops: {q: {op: linear, role: head, d_in: 1}}}}\n"), PREDICT, "m.yaml:6:", "d_out"),
    case(
        "extra argument",
        more("blocks: {z: {ops: {q: {op: linear, role: head, d_in: 1, d_out: 2, d_outt: 4}}}}\n"),
        PREDICT,
        "m.yaml:6:67",
        "`d_out`",
    ),
    case("list argument", more("blocks: {z: {ops: {q: {op: linear, role: head, d_in: [1], d_out: 2}}}}\n"), PREDICT, "m.yaml:6:54"),
    case(
        "negative argument",
        more("blocks: {z: {ops: {q: {op: linear, role: head, d_in: -5, d_out: 2}}}}\n"),
        PREDICT,
        "m.yaml:6:",
    ),
    case(
        "unknown role",
        more("blocks: {z: {ops: {q: {op: linear, role: hedd, d_in: 1, d_out: 2}}}}\n"),
        PREDICT,
        "m.yaml:6:",
        "`head`",
    ),
    case("no dims", model("dims: {L: 2, d: 64, n_q: 4, n_kv: 2, d_ff: 128, vocab: 100}", "dims: {}"), PREDICT, "`vocab`"),
    case("no operators", {"m.yaml": "schema: costmodel/model@1\nname: m\n"}, PREDICT, "no operators"),
    case("abstract model", {}, ("predict", "decoder", "--hw", "./h.yaml"), "abstract"),
    case("check that fails", more("checks: {params: 1000 +- 5%}\n"), PREDICT, "m.yaml:6:18", "86,848", "1,000"),
    case("active check that fails", more("checks: {active_params: 5}\n"), PREDICT, "m.yaml:6:25", "86,848"),
    case("check that is none", more("checks: {params: about ten}\n"), PREDICT, "m.yaml:6:18", "8.03e9 +- 0.5%"),
    *[
        case(f"check of {t}", more(f"checks: {{params: {t}}}\n"), PREDICT, "m.yaml:6:18")
        for t in ("nan", "inf", "1e9 +- nan%", "1e9 +- inf%", "1e400 +- 1%")
    ],
    case("unknown format", model("bf16", "bf61"), PREDICT, "m.yaml:5:19", "`bf16`"),
    case("format by path", model("bf16", "/etc/passwd"), PREDICT, "m.yaml:5:19"),
    case("huge size", model("format: bf16", "format: bf16, size: 1e300 B"), PREDICT),
    case(
        "size of a model that stores nothing",
        {
            "m.yaml": "schema: costmodel/model@1\nname: m\ndims: {d: 64}\n"
            "blocks: {only: {ops: {act: {op: elementwise, role: mlp.act, width: d}}}}\nweights: {format: bf16, size: 1 GB}\n"
        },
        PREDICT,
        "m.yaml:5:",
    ),
    case("negative context", more("context: -5\n"), PREDICT, "m.yaml:6:10"),
    case("context beyond a whole number", more("context: 1e30\n"), PREDICT, "m.yaml:6:10"),
]
for _n in (1, 2, 3):
    _ring = {
        f"r{i}.yaml": MODEL.replace("name: m", f"name: r{i}").replace("architecture: decoder", f"extends: ./r{(i + 1) % _n}.yaml")
        for i in range(_n)
    }
    MODELS.append(case(f"extends in a circle of {_n}", _ring, ("predict", "./r0.yaml", "--hw", "./h.yaml"), "circle", "r0", ":3:10"))
MODELS += [
    case(
        "architecture in a circle",
        {
            "a.yaml": MODEL.replace("name: m", "name: a").replace("decoder", "./b.yaml"),
            "b.yaml": MODEL.replace("name: m", "name: b").replace("decoder", "./a.yaml"),
        },
        ("predict", "./a.yaml", "--hw", "./h.yaml"),
        "circle",
    ),
    case(
        "circle of a document whose name is a number",
        {"a.yaml": MODEL.replace("name: m", "name: 5").replace("architecture: decoder", "extends: ./a.yaml")},
        ("predict", "./a.yaml", "--hw", "./h.yaml"),
    ),
    case(
        "20 levels of extends",
        {f"l{i}.yaml": MODEL.replace("architecture: decoder", f"extends: ./l{i + 1}.yaml") for i in range(21)},
        ("predict", "./l0.yaml", "--hw", "./h.yaml"),
        "16 levels",
    ),
    case("extends a missing document", model("architecture: decoder", "extends: decodr"), PREDICT, "m.yaml:3:10", "`decoder`"),
    case(
        "extends another kind",
        model("architecture: decoder", "extends: ./h.yaml"),
        PREDICT,
        "h.yaml:1:9",
        "m.yaml:3:10",
        "hardware",
        "model",
    ),
    case("extends a list", model("architecture: decoder", "extends: [a, b]"), PREDICT, "m.yaml:3:10"),
    case("extends a number", model("architecture: decoder", "extends: 5"), PREDICT, "m.yaml:3:10"),
    case("extends a folder", model("architecture: decoder", "extends: /"), PREDICT, "m.yaml:3:10"),
    case("extends a device", model("architecture: decoder", "extends: /dev/zero"), PREDICT, "m.yaml:3:10"),
    case("extends a name with NUL", model("architecture: decoder", 'extends: "./a\\0b"'), PREDICT, "m.yaml:3:10"),
    case(
        "extends a name of 5,000 letters",
        model("architecture: decoder", "extends: " + "a" * 5000),
        PREDICT,
        "m.yaml:3:10",
    ),
    case(
        "extends a file that is no document",
        {**model("architecture: decoder", "extends: ./secret.txt"), "secret.txt": "hunter2: [\n"},
        PREDICT,
        "m.yaml:3:10",
    ),
]

HARDWARE_CASES = [
    *[
        case(f"bandwidth {v}", machine("1008 GB/s", v), PREDICT, "h.yaml:4:46")
        for v in (
            "0 GB/s",
            "-1 GB/s",
            "1e400 GB/s",
            "1008",
            "1008 GB",
            "nan GB/s",
            ".inf",
            "1008 GT/s",
            "1008 GB/s/s",
            "1008 GB//s",
            "'= 1/0'",
            "'= q'",
            "{a: b}",
            "[1]",
            "null",
            "true",
            "++1 GB/s",
        )
    ],
    case("bandwidth in lower case", machine("1008 GB/s", "1008 gb/s"), PREDICT, "h.yaml:4:46", "`GB`", "case-sensitive"),
    case("bare number suggests the unit", machine("1008 GB/s", "1008000000000"), PREDICT, "`1008 GB/s`"),
    case("hexadecimal", machine("1008 GB/s", "0x10 GB/s"), PREDICT, "h.yaml:4:46"),
    case(
        "decimal comma",
        machine("1008 GB/s", '"1,5 GB/s"'),
        PREDICT,
        "h.yaml:4:46",
    ),
    *[
        case(f"capacity {v}", machine("24 GiB", v), PREDICT, "h.yaml:4:27")
        for v in ("0 GiB", "-0 GiB", "24", "24 Gib", "24 GB/s", "1e308 GB")
    ],
    *[
        case(f"peak {v}", machine("165.2 TFLOP/s", v), PREDICT, "h.yaml:5:38")
        for v in ("0 TFLOP/s", "-1 TFLOP/s", "165.2 TFLOPS", "165.2 TB/s", "1e300 TFLOP/s", "165.2")
    ],
    *[case(f"bandwidth {v} (no figure left)", machine("1008 GB/s", v), PREDICT) for v in ("5e-324 B/s", "1e-310 B/s")],
    case("usable above one", {"h.yaml": HARDWARE + "usable: 5\n"}, PREDICT, "h.yaml:6:9"),
    case("params: unknown name", {"h.yaml": HARDWARE + "params: {a: '= b'}\n"}, PREDICT, "h.yaml:6:13"),
    case("params: no unit", {"h.yaml": HARDWARE + "params: {a: ''}\n"}, PREDICT, "h.yaml:6:13"),
    case("params: a list", {"h.yaml": HARDWARE + "params: {a: [1]}\n"}, PREDICT, "h.yaml:6:13"),
    case("params: a number", {"h.yaml": HARDWARE + "params: 5\n"}, PREDICT, "h.yaml:6:9"),
    case(
        "params: all problems at once",
        {"h.yaml": HARDWARE + "params: {a: 1 GBB, b: 2 GBB}\n"},
        PREDICT,
        "h.yaml:6:13",
        "h.yaml:6:23",
    ),
    case("two memories", machine("{vram:", "{a: {bandwidth: 1 GB/s}, vram:"), PREDICT, "exactly one"),
    case("no memory", machine("{vram: {capacity: 24 GiB, bandwidth: 1008 GB/s}}", "{}"), PREDICT, "exactly one"),
    case(
        "no memory, in a study",
        {**machine("{vram: {capacity: 24 GiB, bandwidth: 1008 GB/s}}", "{}"), **study("view: hardware\nhardware: [./h.yaml]")},
        MATRIX,
    ),
    case("abstract hardware", {}, ("predict", "./m.yaml", "--hw", "cpu-desktop"), "abstract", "class"),
    case(
        "abstract hardware, in a study",
        study("view: hardware\nhardware: [cpu-desktop]"),
        MATRIX,
    ),
    case("no peak rate", machine("{fp32: 82.58 TFLOP/s, fp16: 165.2 TFLOP/s}", "{}"), PREDICT, "h.yaml:5:10", "fp16"),
    case("unknown type", machine("fp16:", "fp17:"), PREDICT, "h.yaml:5:", "`fp16`"),
    case("unknown feature", {"h.yaml": HARDWARE + "features: [sparse_4_2]\n"}, PREDICT, "h.yaml:6:12", "`sparse_2_4`"),
    case("wrong kind", {}, ("predict", "./m.yaml", "--hw", "./m.yaml"), "m.yaml:1:9", "model", "hardware"),
    case(
        "many sources under a parent",
        {"h.yaml": HARDWARE + "sources:\n" + "".join(f"  s{i}: {{kind: paper, ref: a}}\n" for i in range(4000))},
        (*PREDICT, "--set", "hw.usable=5"),
    ),
]

TECHNIQUES = [
    case("unknown technique", {}, using("kv-int9"), "1:1", "`kv-int8`"),
    case("no name", {}, using(""), "--technique:1:1", place=False),
    case("colon only", {}, using(":")),
    case("name of 5,000 letters", {}, using("a" * 5000)),
    case("a model as a technique", {}, using("./m.yaml"), "technique"),
    case("path traversal", {}, using("../../../../../../../etc/passwd")),
    case("knob out of range", {}, using("./t.yaml:n=17"), "17", "1 … 16", "t.yaml:4:"),
    case("fractional knob", {}, using("./t.yaml:n=1.5"), "whole number", "t.yaml:4:"),
    case("text knob", {}, using("./t.yaml:n=abc"), "number"),
    case("knob without a value", {}, using("./t.yaml:n")),
    case("empty knob", {}, using("./t.yaml:n=")),
    case("boolean knob", {}, using("./t.yaml:n=true"), "number"),
    case("infinite knob", {}, using("./t.yaml:n=1e999"), "too large"),
    case("nan knob", {}, using("./t.yaml:n=.nan"), "finite"),
    case("tagged knob", {}, using("./t.yaml:n=!!python/object/apply:os.system"), "tag"),
    case("alias knob", {}, using("./t.yaml:n=*q"), "alias"),
    case("two documents in a knob", {}, using("./t.yaml:n=3\n---\n4"), "second"),
    case("unknown choice", {}, using("./t.yaml:c=z"), "`z`", "t.yaml:5:"),
    case("unknown knob", {}, using("./t.yaml:nn=3"), "`nn`", "`n`"),
    case("knob given twice", {}, using("./t.yaml:n=3,n=5"), "twice"),
    case("surrogate knob", {}, using("./t.yaml:n=\udcff")),
    case("technique given twice", {}, using("./t.yaml", "./t.yaml"), "twice"),
    case("technique given twice, differently", {}, using("./t.yaml:n=2", "./t.yaml:n=3"), "twice"),
    case("conflict", {}, using("gqa", "mla"), "gqa.yaml:", "mla.yaml:", "combined"),
    case(
        "missing feature", {"h.yaml": HARDWARE + "features: []\n"}, using("sparsity-2-4"), "sparsity-2-4.yaml:", "h.yaml:6:", "sparse_2_4"
    ),
    case("missing dim", {"m.yaml": ONE_ROW, **operator("flops: B * T")}, using("mqa"), "mqa.yaml:", "m.yaml:3:", "n_kv"),
    case("missing role", {"m.yaml": ONE_ROW, **operator("flops: B * T")}, using("kv-eviction"), "kv-eviction.yaml:", "m.yaml:2:"),
    case("condition not met", {}, using("gqa:kv_heads=3"), "m.yaml:4:", "n_kv = 2", "kv_heads = 3"),
    case(
        "condition divided by zero",
        technique("requires: {conditions: {odd: d / (L - 2)}}"),
        T,
        "t.yaml:3:",
    ),
    case(
        "one symbol set twice",
        {**rewrite("{set: {w_bytes: w_format / 2}}", "a"), **rewrite("{set: {w_bytes: w_format / 3}}", "b")},
        using("./a.yaml", "./b.yaml"),
        "a.yaml:3:",
        "b.yaml:3:",
        "two techniques",
    ),
    case(
        "one term replaced twice",
        {**rewrite("{replace: {flops: 1}}", "a"), **rewrite("{replace: {flops: 2}}", "b")},
        using("./a.yaml", "./b.yaml"),
        "a.yaml:3:",
        "b.yaml:3:",
    ),
    case(
        "one dim set twice",
        {**rewrite("{set: {n_kv: 1}}", "a"), **rewrite("{set: {n_kv: 2}}", "b")},
        using("./a.yaml", "./b.yaml"),
        "a.yaml:3:",
        "b.yaml:3:",
    ),
    case("one format given twice", {}, using("int4", "int8"), "int4.yaml:", "int8.yaml:"),
    case(
        "one schedule field twice",
        {**schedule("decode: {T: 2}", "a"), **schedule("decode: {T: 3}", "b")},
        using("./a.yaml", "./b.yaml"),
        "a.yaml:3:",
        "b.yaml:3:",
    ),
    case(
        "one place twice",
        {**rewrite("{place: {tier: host, share: 0.5}}", "a"), **rewrite("{place: {tier: disk, share: 0.5}}", "b")},
        using("./a.yaml", "./b.yaml"),
        "a.yaml:3:",
        "b.yaml:3:",
    ),
    case("unknown symbol", rewrite("{set: {w_byte: 1}}"), T, "t.yaml:3:", "`w_bytes`"),
    case("unknown term", rewrite("{replace: {bytes.foo: 1}}"), T, "t.yaml:3:"),
    case("unknown role in only", rewrite("{drop: true, only: {role: attn.z}}"), T, "t.yaml:3:", "attn"),
    case("set in a circle", rewrite("{set: {w_bytes: w_stored, w_stored: w_bytes}}"), T, "circle"),
    case("unknown tier", rewrite("{place: {tier: moon, share: 0.5}}"), T, "moon"),
    case("share above one", rewrite("{place: {tier: host, share: 2}}"), T, "t.yaml:3:"),
    case("share divided by zero", rewrite("{place: {tier: host, share: 1/0}}"), T, "t.yaml:3:", "division by zero"),
    case("when divided by zero", rewrite("{when: 1/0, scale: {flops: 2}}"), T, "t.yaml:3:", "division by zero"),
    case("when of the workload", rewrite("{when: B, scale: {flops: 2}}"), T, "t.yaml:3:"),
    case("compute on the disk", rewrite("{place: {tier: disk, share: 1, mode: compute}}"), T, "disk"),
    case("unknown format in a rewrite", rewrite("{format: {weights: int44}}"), T, "`int4`"),
    case("mix as a KV format", rewrite("{format: {kv: q4_k_m}}"), T, "mix"),
    case("unknown model in a rewrite", rewrite("{model: nope}"), T, "nope"),
    case("two verbs", rewrite("{drop: true, scale: {flops: 2}}"), ("validate", "./t.yaml"), "exactly one verb"),
    case(
        "two verbs, used",
        rewrite("{set: {w_bytes: w_format}, scale: {flops: 2}}"),
        T,
        "verb",
    ),
    case("scaled by 1/0", rewrite("{scale: {d: 1/0}}"), T, "t.yaml:3:"),
    case("dim set to 1/0", rewrite("{set: {L: 1/0}}"), T, "t.yaml:3:"),
    case("dead division by zero", rewrite("{set: {kept: 'where(S > 5, 1/0, S)'}}"), T, "t.yaml:3:"),
    case("replaced by a division by zero", rewrite("{replace: {flops: B / (T - 1)}}"), T),
    case("params replaced by B", rewrite("{replace: {params: B}}"), T),
    case("stored depends on B", rewrite("{add: {stored: B * w_bytes}}"), T),
    case(
        "inserted argument B",
        rewrite("{insert: {beside: head, rows: {a: {op: linear, role: head, d_in: B, d_out: d}}}}"),
        T,
    ),
    case("everything dropped", rewrite("{drop: true}"), T),
    case("not: number", rewrite("{drop: true, only: {not: 5}}"), T, "t.yaml:3:"),
    case("not: role number", rewrite("{drop: true, only: {not: {role: 5}}}"), T, "t.yaml:3:"),
    case(
        "not: unknown key",
        rewrite("{scale: {flops: 2}, only: {not: {rolle: a}}}"),
        T,
        "t.yaml:3:",
    ),
    case("zero rate", rewrite("{set: {rate: 0}}"), T, "t.yaml:3:"),
    case("negative rate", rewrite("{set: {rate: -1}}"), T, "t.yaml:3:"),
    case("rate of T", rewrite("{set: {rate: T}}"), T, "t.yaml:3:"),
    case(
        "weights that depend on T",
        rewrite("{set: {w_bytes: w_format * T}}"),
        T,
        "t.yaml:3:",
    ),
    case("negative scale", rewrite("{scale: {flops: -1}}"), T, "t.yaml:3:"),
    *[
        case(f"schedule {s}", schedule(s), T, "t.yaml:3:")
        for s in (
            "decode: {T: 0}",
            "decode: {T: -1}",
            "decode: {tokens_out: -1}",
            "prefill: {T: -5}",
            "prefill: {chunk: -5}",
            "batch: -1",
            "decode: {S: context - 1e9}",
        )
    ],
    case("no tokens out", schedule("decode: {tokens_out: 0}"), T, "t.yaml:3:"),
    case("no micro-batches", schedule("prefill: {parts: 0, stages: 2}"), T, "t.yaml:3:"),
    case("schedule divided by batch - 1", schedule("decode: {T: batch / (batch - 1)}"), T),
    case("schedule with a log of nothing", schedule("decode: {T: log2(context - 5000)}"), T),
    case("schedule of unknown name", schedule("decode: {T: contxt}"), T, "t.yaml:3:", "`context`"),
    case("schedule power", schedule("decode: {T: prompt ** context}"), T, "[0, 1]"),
    case("draft that is abstract", schedule("decode: {also: {model: decoder}}"), T, "abstract"),
    case("decode on a model", schedule("decode: {hardware: ./m.yaml}"), T),
    case("knob without a default", technique("knobs: {n: {}}"), T, "t.yaml:3:", "default"),
    case("default out of range", technique("knobs: {n: {default: 20, range: [1, 16]}}"), T, "t.yaml:3:"),
    case("empty choices", technique("knobs: {n: {default: a, one_of: []}}"), T, "t.yaml:3:"),
    case("knob name with a space", technique("knobs: {'a b': {default: 5}}"), T, "t.yaml:3:"),
    *[
        case(
            f"knob called {k}",
            technique(f"knobs: {{{k}: {{default: 5}}}}"),
            T,
            "t.yaml:3:",
        )
        for k in ("T", "import")
    ],
    case(
        "chunks of one token",
        {},
        (*using("chunked-prefill:chunk=1"), "--prompt", "100000000"),
        place=False,
    ),
]

ARGUMENTS = [
    *[
        case(f"prompt {v!r}", {}, (*PREDICT, "--prompt", v), place=False)
        for v in ("0", "-1", "abc", "1e9", "9999999999999", "", "²", "k", "1.5", "0k")
    ],
    case(
        "prompt of 1e18",
        {},
        (*PREDICT, "--prompt", "999999999999m"),
        place=False,
    ),
    *[case(f"devices {v}", {}, (*PREDICT, "--devices", v), place=False) for v in ("0", "65537", "999999999999")],
    case("unknown engine", {}, (*PREDICT, "--engine", "rule-of-thum"), "`rule-of-thumb`"),
    case("empty engine", {}, (*PREDICT, "--engine", "")),
    case("unknown hardware", {}, ("predict", "./m.yaml", "--hw", "rtx4091"), "`rtx4090`"),
    case("unknown model", {}, ("predict", "llama-3.1-8", "--hw", "./h.yaml"), "`llama-3.1-8b`"),
    case("hardware: NUL", {}, ("predict", "./m.yaml", "--hw", "./x\0y")),
    case("hardware: 5,000 letters", {}, ("predict", "./m.yaml", "--hw", "a" * 5000)),
    case(
        "hardware: path of 5,000 letters",
        {},
        ("predict", "./m.yaml", "--hw", "./" + "a" * 5000),
    ),
    case("hardware: traversal", {}, ("predict", "./m.yaml", "--hw", "../../../../../../../../etc/passwd")),
    case("hardware: dots", {}, ("predict", "./m.yaml", "--hw", "..")),
    case("hardware: folder", {}, ("predict", "./m.yaml", "--hw", "/"), "folder"),
    case("hardware: /dev/zero", {}, ("predict", "./m.yaml", "--hw", "/dev/zero")),
    case("hardware: /dev/null", {}, ("predict", "./m.yaml", "--hw", "/dev/null")),
    case("hardware: surrogate", {}, ("predict", "./m.yaml", "--hw", "\udcff")),
    case("no command", {}, ("predikt",), "predict", place=False),
    case("no model", {}, ("predict",), place=False),
    *[case(f"set {t!r}", {}, sets(t), "--set #1:1:1") for t in ("=", "hw", "hw=", "hw.x", "hv.x=1", "\udcff=1")],
    case("set: unknown head", {}, sets("hv.usable=1"), "`hw`"),
    case("set: misspelt", {}, sets("hw.memory.vram.bandwith=1 GB/s"), "bandwidth"),
    case("set: unknown memory", {}, sets("hw.memory.vrm.bandwidth=1 GB/s"), "memory.vram.bandwidth"),
    case("set: below a value", {}, sets("hw.memory.vram.bandwidth.x=1")),
    case("set: a container", {}, sets("hw.memory=5"), "mapping"),
    case("set: a tier", {}, sets("hw.memory.vram=5"), "mapping"),
    case("set: bare number", {}, sets("hw.memory.vram.bandwidth=100"), "unit"),
    case("set: wrong unit", {}, sets("hw.memory.vram.bandwidth=100 GB"), "byte/s"),
    case("set: dims", {}, sets("model.dims=[1]"), "mapping"),
    case("set: negative dim", {}, sets("model.dims.L=-1"), "-1"),
    case("set: unknown dim", {}, sets("model.dims.n_qq=1"), "dims.n_q"),
    case("set: list element", {}, sets("hw.features.0=q")),
    case("set: kind", {}, sets("hw.schema=costmodel/model@1")),
    case("set: alias", {}, sets("model.dims.L=*a"), "alias"),
    case("set: tag", {}, sets("model.dims.L=!!python/name:os.system"), "tag"),
    case("set: two documents", {}, sets("model.dims.L=3\n---\n4"), "second"),
    case("set: brackets", {}, sets("model.dims.L=[[[[[")),
    case("set: NUL", {}, sets("model.dims.L=\0")),
    case("set: surrogate", {}, sets("model.dims.L=\udcff"), "--set #1:1:"),
    case("set: technique not in use", {}, sets("tech.int4.format=awq"), "not in use"),
    case("set: knob of nothing", {}, (*T, "--set", "tech.t=1")),
    case("set: knob out of range", {}, (*T, "--set", "tech.t.n=99"), "--set #1"),
    case("set: 2,000 parts", {}, sets("hw." + "a." * 2000 + "b=1")),
    *[case(f"set: {t}", {}, sets(t), "--set #1") for t in ("hw.extends=zzz", "model.architecture=zzz")],
    case(
        "set twice",
        {},
        sets("model.dims.L=3", "model.dims.L=4"),
        "--set #1",
        "--set #2",
    ),
    case("set: zero efficiency", {}, sets("engine.efficiency.weights=0"), "--set #1"),
    case("set: negative efficiency", {}, sets("engine.efficiency.weights=-1"), "--set #1"),
    case("set: efficiency that is zero at one token", {}, sets("engine.efficiency.compute=M - 1")),
    case("set: efficiency divided by zero", {}, sets("engine.efficiency.compute=1/(M-1)")),
    case("set: efficiency of B", {}, sets("engine.efficiency.weights=B"), "`B`"),
    case("set: negative overhead", {}, sets("engine.overhead.step=-1"), "--set #1"),
    case("set: negative micro-batch", {}, sets("engine.micro_batch=-5"), "--set #1"),
    case("set: inverted span", {}, sets("engine.span={low: 5, high: 1}"), "--set #1"),
    case("set: unknown type", {}, sets("engine.math=fp17"), "`fp16`"),
    *[case(f"check {v}", {}, ("check", "--model", "./m.yaml", "--hw", "./h.yaml", "--", v), place=False) for v in ("0", "-1", "abc")],
    case(
        "check nan",
        {},
        ("check", "--model", "./m.yaml", "--hw", "./h.yaml", "--", "nan"),
        place=False,
    ),
    case(
        "check inf",
        {},
        ("check", "--model", "./m.yaml", "--hw", "./h.yaml", "--", "inf"),
        place=False,
    ),
    case("list: unknown kind", {}, ("list", "hardwares"), "hardware", place=False),
    case("list: no match", {}, ("list", "hardware", "["), place=False),
    case("schema: unknown kind", {}, ("schema", "modl"), "`model`", place=False),
    case("schema: NUL folder", {}, ("schema", "--write", "x\0y"), place=False),
    case("schema: into a file", {}, ("schema", "--write", "./m.yaml"), place=False),
    case("inspect: another kind", {}, ("inspect", "./h.yaml"), "hardware"),
    case("inspect: one of two is missing", {}, ("inspect", "./m.yaml", "./nope.yaml"), "nope"),
    case("validate: missing", {}, ("validate", "./nope.yaml"), "nope", place=False),
    case("validate: NUL", {}, ("validate", "x\0y"), place=False),
    case("validate: 5,000 letters", {}, ("validate", "a" * 5000), place=False),
    case("validate: device", {}, ("validate", "/dev/zero"), place=False),
]

STUDIES = [
    case("unknown study", {}, ("matrix", "decode-celing"), "`decode-ceiling`"),
    case("study: traversal", {}, ("matrix", "../../../../../../../etc/passwd")),
    case("study: wrong kind", {}, ("matrix", "./m.yaml"), "study"),
    case("study: abstract", {}, ("matrix", "words"), "abstract"),
    case("unknown view", study("view: gird"), MATRIX, "`grid`"),
    case("thresholds of text", study("view: techniques\nthresholds: {margin: a}"), MATRIX, "s.yaml:5:"),
    case("fractional prompt", study("workloads: [{prompt: 1.5}]"), MATRIX, "s.yaml:4:"),
    case(
        "unknown hardware in a view",
        study("view: hardware\nhardware: [rtx4091]"),
        MATRIX,
        "s.yaml:5:",
    ),
    case(
        "no base",
        study("base: {}\nview: phases"),
        MATRIX,
        "s.yaml:",
    ),
    *[
        case(
            f"workload {w}",
            study(f"view: phases\nbase: {{model: ./m.yaml, hardware: ./h.yaml, workload: {{{w}}}}}"),
            MATRIX,
            "s.yaml:4:",
        )
        for w in ("prompt: 0", "prompt: -5", "output: 0", "context: -5000", "batch: 0", "batch: -1", "devices: -1")
    ],
    case("boolean prompt", study("workloads: [{prompt: true}]"), MATRIX, "s.yaml:4:"),
    case("quoted prompt", study("workloads: [{prompt: '5'}]"), MATRIX, "s.yaml:4:"),
    *[
        case(f"matrix {' '.join(a)!r}", study("models: [./m.yaml]\nhardware: [./h.yaml]"), (*MATRIX, *a), *n, place=p)
        for a, n, p in (
            (("--prompt", "0"), (), False),
            (("--columns", "0"), (), False),
            (("--output", "0"), (), False),
            (("--sort", "tpss"), ("`tps`",), True),
            (("--sort", "-"), (), True),
            (("--filter", "tps"), ("condition",), True),
            (("--filter", "tpss=5"), ("`tps`",), True),
            (("--filter", "=5"), (), True),
        )
    ],
    *[
        case(
            f"matrix --filter {f}",
            study("models: [./m.yaml]\nhardware: [./h.yaml]"),
            (*MATRIX, "--filter", f),
        )
        for f in ("tps>abc", "tps>nan", "hardware>5")
    ],
]


@pytest.mark.parametrize(
    ("files", "args", "needles", "place"), [*YAML, *FORMULAS, *MODELS, *HARDWARE_CASES, *TECHNIQUES, *ARGUMENTS, *STUDIES]
)
def test_refused(bench, files, args, needles, place):
    for name, text in files.items():
        bench.write(name, text)
    told = bench.refused(*args, place=place)
    for needle in needles:
        assert needle in told, told
    assert not (bench.folder / "pwned").exists()


def test_the_plain_documents_are_fine(bench):
    assert bench.run(*PREDICT).exit_code == 0
    assert bench.run(*using("./t.yaml:n=3,c=b")).exit_code == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1008 GB/s", "8064 Gbit/s"),
        ("1008 GB/s", "1.008 TB/s"),
        ("1008 GB/s", "1_008 GB/s"),
        ("1008 GB/s", '"1,008 GB/s"'),
        ("24 GiB", "192 Gibit"),
        ("165.2 TFLOP/s", "165.2 TOP/s"),
    ],
)
def test_other_spellings_of_a_quantity(bench, old, new):
    want = bench.run(*PREDICT, "--format", "json").stdout
    bench.write("h.yaml", HARDWARE.replace(old, new))
    assert bench.run(*PREDICT, "--format", "json").stdout == want


@pytest.mark.parametrize(
    "change",
    [
        lambda t: "\ufeff" + t,
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "---\n" + t,
        lambda t: t + "...\n",
        lambda t: "# a comment\n" + t + "\n\n",
    ],
)
def test_harmless_spellings_of_a_document(bench, change):
    want = bench.run(*PREDICT, "--format", "json").stdout
    bench.write("m.yaml", change(MODEL))
    assert bench.run(*PREDICT, "--format", "json").stdout == want


WRONG = ("[]", "[1, [2]]", "{}", "{a: 1}", "text", "'= 1 / 0'", "5", "-1.5", "1e300", "true", "null", '"\\e[31m{0} %s"', "'__import__(1)'")
FIELDS = [(kind, field.alias or name) for kind in KINDS for name, field in model_of(kind).model_fields.items()]


@pytest.mark.parametrize(
    ("kind", "field"),
    FIELDS,
)
def test_wrong_types_in_every_field(bench, kind, field):
    """Whatever stands in a field, it is accepted or refused; nothing crashes."""
    base = {"schema": f"costmodel/{kind}@1", "name": "x"}
    for value in WRONG:
        text = "".join(f"{k}: {v}\n" for k, v in {**base, field: value}.items())
        bench.write("x.yaml", text)
        result = bench.run(*X)
        assert result.exit_code in (0, 2), text
        if result.exit_code == 2:
            assert PLACE.search(result.stderr), result.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_fields(bench, kind):
    bench.write("x.yaml", f"schema: costmodel/{kind}@1\nname: x\ndescripton: a\n")
    told = bench.refused(*X)
    assert "x.yaml:3:1" in told
    assert "`description`" in told


@pytest.mark.parametrize(
    ("kind", "field", "value", "needle"),
    [
        ("hardware", "memory", "{v: {bandwith: 1 GB/s}}", "bandwidth"),
        ("model", "blocks", "{a: {ops: {}, repeet: 1}}", "repeat"),
        ("engine", "efficiency", "{weigths: 1}", "weights"),
        ("technique", "schedule", "{decode: {tokens_oot: 1}}", "tokens_out"),
        ("study", "base", "{modell: a}", "model"),
        ("operator", "bytes", "{wieghts: 1}", "weights"),
        ("format", "sources", "{a: {kinds: paper, ref: b}}", "kind"),
    ],
)
def test_unknown_nested_fields(bench, kind, field, value, needle):
    bench.write("x.yaml", f"schema: costmodel/{kind}@1\nname: x\n{field}: {value}\n")
    assert needle in bench.refused(*X)


# Files that are no files


def test_folder_of_documents(bench):
    (bench.folder / "empty").mkdir()
    bench.refused("validate", "./empty", place=False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_fifo(bench):
    os.mkfifo(bench.folder / "pipe.yaml")
    bench.refused("validate", "./pipe.yaml", place=False)
    bench.refused("predict", "./pipe.yaml", "--hw", "./h.yaml")


def test_symlink_loop(bench):
    (bench.folder / "a.yaml").symlink_to("b.yaml")
    (bench.folder / "b.yaml").symlink_to("a.yaml")
    bench.refused("validate", "./a.yaml", place=False)
    bench.refused("predict", "./a.yaml", "--hw", "./h.yaml")
    bench.write("m.yaml", MODEL.replace("architecture: decoder", "extends: a"))
    bench.refused(*PREDICT)


def test_unreadable_file(bench, monkeypatch):
    import builtins

    real = builtins.open

    def locked(file, *args, **extra):
        if str(file).endswith("locked.yaml"):
            raise PermissionError(13, "Permission denied", str(file))
        return real(file, *args, **extra)

    bench.write("locked.yaml", MODEL)
    monkeypatch.setattr(builtins, "open", locked)
    assert "locked.yaml" in bench.refused("validate", "./locked.yaml", place=False)


def test_unreadable_parent(bench, monkeypatch):
    import builtins

    real = builtins.open

    def locked(file, *args, **extra):
        if str(file).endswith("locked.yaml"):
            raise PermissionError(13, "Permission denied", str(file))
        return real(file, *args, **extra)

    bench.write("locked.yaml", MODEL)
    bench.write("m.yaml", MODEL.replace("architecture: decoder", "extends: locked"))
    monkeypatch.setattr(builtins, "open", locked)
    assert "m.yaml:3:10" in bench.refused(*PREDICT)


def test_a_bad_document_on_the_path_does_not_break_other_names(bench, monkeypatch):
    bench.write("specs/hardware/bad.yaml", "schema: costmodel/hardware@1\nname: bad\naliases: 5\n")
    monkeypatch.setenv("COSTMODEL_PATH", str(bench.folder / "specs"))
    assert "`rtx4090`" in bench.refused("predict", "./m.yaml", "--hw", "rtx4091")


@pytest.mark.parametrize(
    "body",
    [
        "memory: {}",
        "usable: 7",
        "[",
        "features: 5",
    ],
)
def test_list_survives_a_bad_document(bench, monkeypatch, body):
    bench.write("specs/hardware/bad.yaml", f"schema: costmodel/hardware@1\nname: bad\n{body}\n")
    monkeypatch.setenv("COSTMODEL_PATH", str(bench.folder / "specs"))
    assert bench.run("list", "hardware", "bad").exit_code in (0, 2)


# What reaches the terminal, and what reaches a page

ESCAPES = ("\\e[31mred", "\\e]0;owned\\a", "\\x9b31mred", "\\a\\b\\r")


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize(
    "where",
    [
        "title",
        "unknown field",
        "schema",
        "name",
        "duplicate key",
        "assumption",
        "study title",
    ],
)
def test_escape_sequences_do_not_reach_the_terminal(bench, where, escape):
    quoted = f'"{escape}"'
    files = {
        "title": {"m.yaml": MODEL + f"title: {quoted}\n"},
        "unknown field": {"m.yaml": MODEL + f"{quoted}: 1\n"},
        "schema": {"m.yaml": MODEL.replace("costmodel/model@1", f'"costmodel/{escape}@1"')},
        "name": {"m.yaml": MODEL.replace("name: m", f"name: {quoted}")},
        "duplicate key": {"m.yaml": MODEL + f"{quoted}: 1\n{quoted}: 2\n"},
        "assumption": {"t.yaml": TECHNIQUE + f"assumptions: [{quoted}]\n"},
        "study title": study(f"title: {quoted}\nmodels: [./m.yaml]\nhardware: [./h.yaml]"),
    }[where]
    for name, text in files.items():
        bench.write(name, text)
    args = MATRIX if where == "study title" else using("./t.yaml")
    result = bench.run(*args, color=True)
    seen = [c for c in result.stdout + result.stderr if (ord(c) < 32 or 127 <= ord(c) < 160) and c != "\n"]
    assert not seen


def test_html_is_escaped_and_templates_are_not_evaluated(bench):
    text = "title: '{{7*7}} <script>alert(1)</script>'\nnotes: ['<b>{{ 8*8 }}', {en: '<img src=x onerror=y>'}]\ntexts: {model: '<i>{{9*9}}</i>'}\nmodels: [./m.yaml]\nhardware: [./h.yaml]"
    bench.write("s.yaml", study(text)["s.yaml"])
    page = bench.run(*MATRIX, "--format", "html")
    assert page.exit_code == 0
    assert "{{7*7}} &lt;script&gt;" in page.stdout
    for raw in ("<script>", "<b>", "<img", "<i>", ">49", ">64", ">81"):
        assert raw not in page.stdout
    for fmt in ("text", "markdown"):
        shown = bench.run(*MATRIX, "--format", fmt)
        assert shown.exit_code == 0
        assert "{{7*7}}" in shown.stdout


def test_format_fields_in_names_and_messages(bench):
    bench.write("t.yaml", technique("requires: {conditions: {'%s {0} {x.__class__}': 0}}")["t.yaml"])
    assert "%s {0} {x.__class__}" in bench.refused(*T)
    bench.write("t.yaml", TECHNIQUE + "title: '{x} %s {0.__class__}'\nassumptions: ['{prompt} %d']\n")
    result = bench.run(*T)
    assert result.exit_code == 0
    assert "{prompt} %d" in result.stdout


@pytest.mark.parametrize("cell", ["=cmd|' /C calc'!A0", "a\nb", 'a"b', "a,b"])
def test_csv_quotes_its_cells(bench, cell):
    import csv
    import io
    import json

    bench.write(
        "t.yaml",
        TECHNIQUE.replace("c: {default: a, one_of: [a, b]}", f"c: {{default: {json.dumps(cell)}, one_of: [{json.dumps(cell)}, b]}}"),
    )
    result = bench.run(*T, "--format", "csv")
    assert result.exit_code == 0
    assert {len(row) for row in csv.reader(io.StringIO(result.stdout))} == {2}


# The cache


def test_a_path_cannot_smuggle_code_into_the_cache(bench, monkeypatch):
    monkeypatch.setenv("COSTMODEL_CACHE", str(bench.folder / "cache"))
    bench.write("p", "bait")
    evil = bench.folder / f"p|{cache.digest(b'bait')}\nopen('pwned', 'w')#.yaml"
    evil.write_text(MODEL)
    for _ in range(2):
        bench.run("predict", f"./{evil.name}", "--hw", "./h.yaml")
    assert not (bench.folder / "pwned").exists()


# Real processes: time, memory and exit code as a shell sees them


def spawn(folder: Path, *args: str, seconds: float = 5, megabytes: int = 700) -> subprocess.CompletedProcess:
    import resource

    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    env = {**os.environ, "COSTMODEL_CACHE": "off", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-m", "costmodel", *args], cwd=folder, env=env, capture_output=True, timeout=seconds, preexec_fn=bound, check=False
    )


def process_refused(folder: Path, *args: str, **bounds) -> str:
    start = time.monotonic()
    done = spawn(folder, *args, **bounds)
    told = done.stderr.decode()
    assert done.returncode == 2, told[-500:]
    assert done.stdout == b""
    assert "Traceback" not in told
    assert time.monotonic() - start < 4
    return told


PROCESSES = [
    case("tag", x("a: !!python/object/apply:os.system ['touch pwned']\n"), X, "x.yaml:1:4"),
    case("brackets", x("a: " + "[" * 100_000), X, "nest"),
    case("2 MB", x("a: " + "x" * (2 << 20)), X, "bytes"),
    case("device", {}, ("predict", "./m.yaml", "--hw", "/dev/zero"), "/dev/zero"),
    case("import", flops("\"__import__('os').system('touch pwned')\""), PREDICT, "o.yaml:4:"),
    case("parentheses", flops("'" + "(" * 3000 + "a" + ")" * 3000 + "'"), PREDICT, "o.yaml:4:"),
    case(
        "powers of powers",
        flops("'" + "(" * 12 + "T" + "**8)" * 12 + "'"),
        PREDICT,
    ),
    case(
        "powers of powers of a quotient",
        flops("'" + "(" * 9 + "(T + 1)" + "**8)" * 9 + "'"),
        PREDICT,
    ),
    case(
        "let that doubles",
        operator("let: {v0: B, " + ", ".join(f"v{i}: v{i - 1} * T + v{i - 1} / 3" for i in range(1, 31)) + "}\nflops: v30"),
        PREDICT,
    ),
    case(
        "800 million cells",
        study(
            "models: ["
            + ", ".join(["./m.yaml"] * 2000)
            + "]\nhardware: ["
            + ", ".join(["./h.yaml"] * 2000)
            + "]\nworkloads: ["
            + ", ".join(f"{{prompt: {i}}}" for i in range(1, 201))
            + "]"
        ),
        MATRIX,
        "s.yaml",
    ),
    case(
        "200 options by 200 options",
        study("models: [./m.yaml]"),
        (
            *MATRIX,
            *(v for i in range(1, 401) for v in ("--prompt", str(i))),
            *(v for i in range(1, 401) for v in ("--batch", str(i))),
            *(v for i in range(1, 401) for v in ("--context", str(i))),
        ),
    ),
]


@pytest.mark.parametrize(("files", "args", "needles", "place"), PROCESSES)
def test_process(tmp_path, files, args, needles, place):
    for name, text in {"m.yaml": MODEL, "h.yaml": HARDWARE, "t.yaml": TECHNIQUE, **files}.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    told = process_refused(tmp_path, *args, seconds=1.6)
    for needle in needles:
        assert needle in told, told
    assert not (tmp_path / "pwned").exists()


def test_process_answers_in_a_second_with_little_memory(tmp_path):
    (tmp_path / "m.yaml").write_text(MODEL)
    start = time.monotonic()
    assert "`rtx4090`" in process_refused(tmp_path, "predict", "./m.yaml", "--hw", "rtx4091", megabytes=400)
    assert time.monotonic() - start < LIMIT


def test_process_survives_a_closed_pipe(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "costmodel", "list", "hardware"], stdout=writer, stderr=subprocess.PIPE, timeout=10, check=False
    )
    os.close(writer)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--output", "999999999999"),
        ("--prompt", "999999999999"),
        ("--batch", "999999999999"),
        ("--context", "999999999999"),
        ("--devices", "65536"),
    ],
)
def test_huge_workloads_are_quick(bench, options):
    result = bench.run(*PREDICT, *options, "--format", "json")
    assert result.exit_code == 0
    assert "NaN" not in result.stdout
    assert "Infinity" not in result.stdout


def test_large_products_and_unknown_capacity_are_fine(bench):
    """Ranges past a float are no error by themselves, and a capacity of null means unknown."""
    bench.write("o.yaml", f"schema: costmodel/operator@1\nname: o\nflops: max({'*'.join(['B'] * 30)} * 0.5, 1)\n")
    assert bench.run("validate", "./o.yaml").exit_code == 0
    bench.write("h.yaml", HARDWARE.replace("capacity: 24 GiB", "capacity: null"))
    assert bench.run(*PREDICT).exit_code == 0
