"""Random and generated input: readers raise their own errors only, and what they accept means one thing everywhere."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from costmodel.compile.uses import read_use
from costmodel.folders import data_root
from costmodel.language.formula import Bin, Call, FormulaError, Name, Neg, Num, parse
from costmodel.language.formula.dims import dimension
from costmodel.language.formula.fold import bind, number, span
from costmodel.language.formula.lens import to_sympy
from costmodel.language.formula.nodes import children, names, walk
from costmodel.language.formula.write import python, text
from costmodel.language.merge import parse_sets
from costmodel.language.problem import Source, SpecError
from costmodel.language.units import BASES, BIT, BYTE, COUNT, UNITS, Dim, UnitError, quantity, unit
from costmodel.language.yamlread import parse as read_yaml
from costmodel.language.yamlread import read_text
from costmodel.library import Library
from costmodel.schema.validate import validate

quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], derandomize=True
)
few = settings(quick, max_examples=60)
heavy = settings(quick, max_examples=5000, derandomize=False)
SPECS = sorted(data_root("specs").rglob("*.yaml"))
CORPUS = [p.read_text("utf-8") for p in SPECS[:: max(1, len(SPECS) // 60)]]
LIBRARY = Library()


@pytest.fixture(autouse=True)
def long_runs_on_request(request):
    if request.node.get_closest_marker("full") and "full" not in (request.config.getoption("-m") or ""):
        pytest.skip("a long run: `-m full`")


# Text that looks like documents: pieces of the language, joined at random

YAMLISH = st.lists(
    st.sampled_from(
        [
            *"abz019.-+eE:,#[]{}'\"&*!|>%@`?~ \t\n\\/=",
            "\n  ",
            ": ",
            "- ",
            "<<",
            "---",
            "...",
            "!!str ",
            "&a ",
            "*a",
            "null",
            ".inf",
            "0x1f",
            "1e9",
            "\r\n",
            "é",
            "\u2028",
            "\ufeff",
            "\x85",
            "\x00",
            "\ud7ff",
            "\U0001f600",
        ]
    ),
    max_size=60,
).map("".join)


def load(raw: bytes):
    """The document, or the error that the contract allows, printed as the command line would."""
    try:
        return read_yaml(read_text(raw, "x.yaml"))
    except SpecError as error:
        assert error.problems
        assert all(p.mark is not None for p in error.problems)
        assert "x.yaml:" in str(error)
        return None


def yaml_raw(raw: bytes):
    document = load(raw)
    if document is not None:
        for path in document.marks:
            mark = document.mark(path)
            assert mark.line >= 1
            assert mark.column >= 1


@quick
@given(st.binary(max_size=100))
def test_yaml_of_random_bytes(raw):
    yaml_raw(raw)


@quick
@given(st.text(max_size=80))
def test_yaml_of_random_text(raw):
    yaml_raw(raw.encode("utf-8", "surrogatepass"))


@settings(quick, max_examples=500)
@given(YAMLISH)
def test_yaml_of_random_pieces(raw):
    yaml_raw(raw.encode("utf-8"))


@st.composite
def mutated(draw):
    """A shipped document with a few pieces cut, doubled, swapped or overwritten."""
    body = draw(st.sampled_from(CORPUS))
    for _ in range(draw(st.integers(1, 3))):
        at, to = sorted((draw(st.integers(0, len(body))), draw(st.integers(0, len(body)))))
        to = min(to, at + 40)
        kind = draw(st.integers(0, 3))
        if kind == 0:
            body = body[:at] + body[to:]
        elif kind == 1:
            body = body[:to] + body[at:]
        elif kind == 2:
            body = body[:at] + draw(YAMLISH) + body[to:]
        else:
            lines = body.split("\n")
            n = draw(st.integers(0, len(lines) - 1))
            key, colon, _ = lines[n].partition(":")
            lines[n] = (
                key
                + colon
                + " "
                + draw(
                    st.sampled_from(
                        ["", "[]", "{}", "5", "-1", "1e300", "true", "'= 1/0'", "[[1]]", "{a: {b: 1}}", "text", "1 GB", "'{0} %s'", "null"]
                    )
                )
            )
            body = "\n".join(lines)
    return body


def validated(body: str) -> None:
    document = load(body.encode("utf-8", "replace"))
    if document is None:
        return
    from costmodel.schema.dimensions import check_dimensions
    from costmodel.schema.validate import kind_of

    try:
        kind = kind_of(document)
        doc = validate(document, kind)
        check_dimensions(kind, doc, document)
    except SpecError as error:
        assert error.problems
        assert str(error)


def test_an_empty_helper_formula_is_refused():
    body = "schema: costmodel/operator@1\nname: x\ntitle: X\nlet:\n  seen:\n  over: seen + 1\nflops: over\n"
    with pytest.raises(SpecError, match="want a formula, got nothing"):
        validate(load(body.encode()), "operator")


@settings(quick, max_examples=400)
@given(mutated())
def test_mutated_documents(body):
    validated(body)


@pytest.mark.full
@heavy
@given(mutated())
def test_mutated_documents_long(body):
    validated(body)


# Plain scalars, against the rules of YAML 1.2.2, section 10.3.2

CORE = [
    (re.compile(r"null|Null|NULL|~|"), lambda s: None),
    (re.compile(r"true|True|TRUE"), lambda s: True),
    (re.compile(r"false|False|FALSE"), lambda s: False),
    (re.compile(r"[-+]?[0-9]+"), int),
    (re.compile(r"0o[0-7]+"), lambda s: int(s[2:], 8)),
    (re.compile(r"0x[0-9a-fA-F]+"), lambda s: int(s[2:], 16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
]
ZERO = re.compile(r"[-+]?0[0-9]")


def core(scalar: str):
    return next((make(scalar) for pattern, make in CORE if pattern.fullmatch(scalar)), scalar)


NUMBERISH = st.one_of(
    st.text("0123456789+-.eE", min_size=1, max_size=12),
    st.text("0123456789abcdefxo_:", min_size=1, max_size=8),
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        [
            "null",
            "Null",
            "nUll",
            "~",
            "true",
            "True",
            "tRue",
            "FALSE",
            "yes",
            "no",
            "on",
            "off",
            "y",
            "n",
            "1_000",
            "1:30",
            "0b1",
            "+1",
            "-.5",
            "1.",
            ".",
            "-",
            "+",
            "e5",
            "1e5",
            "1E+5",
            "+.5e-3",
            "12e",
            "nan",
            "inf",
            "2001-01-01",
        ]
    ),
)


@settings(quick, max_examples=600)
@given(NUMBERISH)
def test_plain_scalars_follow_the_core_rules(scalar):
    assume(not ZERO.match(scalar) and not scalar.startswith(("0x", "0o")))  # told apart below
    assume(scalar.strip("-") and not scalar.startswith(":") and not scalar.endswith(":"))
    want = core(scalar)
    assume(want not in (math.inf, -math.inf))
    got = load(f"- {scalar}\n".encode())
    assume(not (scalar.startswith("- ") or (got is None and scalar[0] in "-?")))
    assert got is not None
    assert got.data == [want]
    assert type(got.data[0]) is type(want)


@given(st.from_regex(r"[-+]?0[0-9]{1,5}", fullmatch=True))
@few
def test_leading_zeros_are_refused(scalar):
    assert load(f"a: {scalar}\n".encode()) is None


def test_leading_zeros_of_fractions_are_refused():
    assert load(b"a: 00.5\n") is None
    assert load(b"a: 01e3\n") is None


def test_other_bases():
    assert load(b"a: 0x1F\n").data == {"a": 31}
    assert load(b"a: 0o17\n").data == {"a": 15}


# The order of keys


def shuffled(draw, value):
    if isinstance(value, dict):
        return {k: shuffled(draw, value[k]) for k in draw(st.permutations(list(value)))}
    return [shuffled(draw, v) for v in value] if isinstance(value, list) else value


def flow(value) -> str:
    """A value as a flow document (JSON, which YAML 1.2 contains)."""
    import json

    return json.dumps(value)


ORDERED = [p for p in SPECS if p.parent.name in ("hardware", "operators", "formats", "techniques", "engines", "studies")][::7]


@few
@given(st.data())
def test_order_of_keys_never_matters(data):
    """Documents mean the same in any order of keys (helper formulas and params may use earlier ones: they keep theirs)."""
    path = data.draw(st.sampled_from(ORDERED))
    source = Source("x.yaml", path.read_text("utf-8"))
    plain = read_yaml(source)
    kept = {k: v for k, v in plain.data.items() if k in ("let", "params")}
    mixed = shuffled(data.draw, {k: v for k, v in plain.data.items() if k not in kept})
    again = read_yaml(Source("x.yaml", flow({**mixed, **kept})))
    kind = plain.data["schema"].partition("/")[2].partition("@")[0]
    try:
        want = validate(plain, kind)
    except SpecError as error:
        with pytest.raises(SpecError) as other:
            validate(again, kind)
        assert sorted(p.message for p in other.value.problems) == sorted(p.message for p in error.problems)
    else:
        assert validate(again, kind) == want


LATER = {
    "hardware params": ("hardware", 'memory: {{v: {{bandwidth: "= rate * 2"}}}}\nparams: {{{}}}', ('rate: "= base * 3"', "base: 1 GB/s")),
    "operator let": ("operator", "bytes: {{kv: wide * 2}}\nlet: {{{}}}", ("wide: each * 3", "each: kv_bytes * B")),
    "format let": ("format", "mix: {{default: {{bf16: half, fp16: rest}}}}\nlet: {{{}}}", ("half: part / 2", "part: 1 / L")),
}


@pytest.mark.parametrize("name", LATER)
def test_order_of_helper_formulas_never_matters(name, tmp_path):
    from costmodel.solve.validate import validate_files

    kind, body, parts = LATER[name]
    told = []
    for order in (parts, parts[::-1]):
        (tmp_path / "x.yaml").write_text(f"schema: costmodel/{kind}@1\nname: x\n" + body.format(", ".join(order)) + "\n")
        told.append(bool(validate_files([str(tmp_path / "x.yaml")])[2]))
    assert told[1] is False  # so that the test is about the order
    assert told[0] is False


MODEL = {
    "schema": "costmodel/model@1",
    "name": "m",
    "architecture": "decoder",
    "dims": {"L": 2, "d": "= n_q * w", "w": "= 4 * v", "v": 4, "n_q": 4, "n_kv": 2, "d_ff": "= 2 * d", "vocab": 100},
    "weights": {"format": "q4_k_m"},
    "kv": {"format": "fp16"},
}
MACHINE = {
    "schema": "costmodel/hardware@1",
    "name": "h",
    "extends": "nvidia-geforce",
    "memory": {"v": {"capacity": "24 GiB", "bandwidth": "1008 GB/s"}},
    "compute": {"fp32": "82 TFLOP/s", "fp16": "165 TFLOP/s", "int8": "600 TOP/s"},
}


@settings(few, max_examples=10)
@given(st.data())
def test_order_of_keys_never_changes_a_prediction(tmp_path_factory, data):
    from costmodel.compile.build import Case, build
    from costmodel.solve.prediction import Prediction

    def figures(model, machine):
        folder = tmp_path_factory.mktemp("order")
        for name, doc in (("m", model), ("h", machine)):
            (folder / f"{name}.yaml").write_text(flow(doc))
        runnable = build(Case(str(folder / "m.yaml"), str(folder / "h.yaml"), None, ("kv-int8",)), Library())
        return {k: v for k, v in Prediction(runnable).to_dict().items() if k not in ("assumptions", "not_modelled")}

    want, got = figures(MODEL, MACHINE), figures(shuffled(data.draw, MODEL), shuffled(data.draw, MACHINE))
    assert close(got, want), (got, want)


def close(a, b) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-12)
    return a == b


# Quantities

COUNTS = st.one_of(st.integers(0, 10**12), st.floats(1e-6, 1e12).map(lambda v: float(f"{v:.6g}")))


@pytest.mark.parametrize("name", UNITS)
def test_every_unit_reads_back(name):
    factor, dim = UNITS[name]
    for amount in (1, 3, 2.5, 1e3, 0.125):
        for shown in (f"{amount} {name}", f"{amount}{name}" if name != "%" else f"{amount}%", f"  {amount}   {name} ", f"+{amount} {name}"):
            assert quantity(shown, dim) == pytest.approx(amount * factor, rel=1e-15)


@quick
@given(COUNTS, st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(UNITS)))
def test_quotients_of_units(amount, above, below):
    (up, over), (down, under) = UNITS[above], UNITS[below]
    want = over.times(under, -1)
    assert unit(f"{above}/{below}") == (up / down, want)
    if not want.bit:
        assert quantity(f"{amount!r} {above}/{below}", want) == pytest.approx(amount * (up / down), rel=1e-12)


@pytest.mark.parametrize("base", ["B", "bit", "FLOP", "OP", "Hz", "W"])
def test_decimal_prefixes_step_by_1000(base):
    for low, high in zip(("", "k", "M", "G", "T", "P"), ("k", "M", "G", "T", "P", "E"), strict=True):
        assert unit(high + base)[0] == 1000 * unit(low + base)[0]
        assert unit(high + base)[1] == unit(low + base)[1]


@pytest.mark.parametrize("base", ["B", "bit"])
def test_binary_prefixes_step_by_1024(base):
    for low, high in zip(("", "Ki", "Mi", "Gi", "Ti"), ("Ki", "Mi", "Gi", "Ti", "Pi"), strict=True):
        assert unit(high + base)[0] == 1024 * unit(low + base)[0]


def test_small_prefixes_step_by_1000():
    for low, high in (("ns", "us"), ("us", "ms"), ("ms", "s")):
        assert unit(high)[0] == pytest.approx(1000 * unit(low)[0], rel=1e-15)
    assert unit("µs") == unit("us")
    assert unit("h")[0] == 60 * unit("min")[0] == 3600 * unit("s")[0]


@quick
@given(st.integers(1, 10**9), st.sampled_from(["", "k", "M", "G", "Ki", "Mi", "Gi"]))
def test_bits_are_eighths_of_bytes(amount, prefix):
    assert quantity(f"{8 * amount} {prefix}bit", BYTE) == quantity(f"{amount} {prefix}B", BYTE)
    assert quantity(f"{8 * amount} {prefix}bit/s", unit("B/s")[1]) == quantity(f"{amount} {prefix}B/s", unit("B/s")[1])
    with pytest.raises(UnitError):
        quantity(f"{amount} {prefix}B", BIT)


@settings(quick, max_examples=400)
@given(
    st.one_of(
        st.text(max_size=40),
        st.text("0123456789+-.,_eE /GMkKiBTbitsFLOPHzW%", max_size=30),
        st.integers(),
        st.floats(),
        st.booleans(),
        st.none(),
        st.lists(st.integers(), max_size=2),
    ),
    st.sampled_from([COUNT, BYTE, unit("B/s")[1], unit("FLOP/s")[1], unit("s")[1], unit("W")[1]]),
)
def test_random_quantities(value, want):
    try:
        got = quantity(value, want)
    except UnitError as error:
        assert str(error)
    else:
        assert isinstance(got, (int, float))
        assert not isinstance(got, bool)
        if not isinstance(value, float):
            assert math.isfinite(got)


@few
@given(st.sampled_from(sorted(u for u in UNITS if u.swapcase() != u)))
def test_units_are_case_sensitive(name):
    swapped = name.swapcase()
    assume(swapped not in UNITS)
    with pytest.raises(UnitError) as error:
        unit(swapped)
    assert "did you mean" in (error.value.help or "")


@pytest.mark.parametrize("shown", ["1,5 GB", "1,2,3 GB", "1,,000 GB", "1_ GB", "12,34 GB"])
def test_commas_group_thousands_only(shown):
    with pytest.raises(UnitError):
        quantity(shown, BYTE)


# Formulas: print, parse, evaluate

VARS = ("a", "b", "c", "n_q", "T")
ints = st.integers(0, 40).map(Num)
floats = st.sampled_from([0.5, 0.25, 1.5, 0.7, 2.0, 1e-3]).map(Num)
leaves = st.one_of(ints, floats, st.sampled_from(VARS).map(Name))
COMPARE = ("<", "<=", ">", ">=", "==", "!=")


def grown(inner):
    """One level of arithmetic over `inner`; conditions stand inside `where`, as the language says."""
    compared = st.builds(Bin, st.sampled_from(COMPARE), inner, inner)
    condition = st.one_of(compared, st.builds(Bin, st.sampled_from(("and", "or")), compared, compared))
    return st.one_of(
        st.builds(Bin, st.sampled_from(("+", "-", "*", "/")), inner, inner),
        st.builds(Bin, st.just("**"), inner, st.integers(0, 3).map(Num)),
        inner.filter(lambda n: not isinstance(n, Num)).map(Neg),
        st.builds(lambda fn, args: Call(fn, tuple(args)), st.sampled_from(("min", "max")), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda fn, a: Call(fn, (a,)), st.sampled_from(("ceil", "floor")), inner),
        st.builds(lambda a, m: Call("ceil_to", (a, m)), inner, st.integers(1, 64).map(Num)),
        st.builds(lambda p, x, y: Call("where", (p, x, y)), condition, inner, inner),
    )


arithmetic = st.deferred(lambda: st.one_of(leaves, st.builds(Bin, st.sampled_from("+-*/"), arithmetic, arithmetic)))
operations = st.one_of(
    st.builds(
        lambda ops, v: Bin(ops[0], Bin(ops[1], v[0], v[1]), Bin(ops[2], v[2], v[3])),
        st.tuples(*[st.sampled_from("+-*/")] * 3),
        st.tuples(*[leaves] * 4),
    ),
    st.builds(lambda a, n: Neg(Bin("**", Neg(Name(a)), Num(n))), st.sampled_from(VARS), st.integers(0, 3)),
    st.builds(lambda op, a, b, n: Bin("**", Bin(op, a, b), Num(n)), st.sampled_from("+-*/"), leaves, leaves, st.integers(0, 3)),
    arithmetic,
)
TREES = st.one_of(operations, st.recursive(leaves, grown, max_leaves=14), st.recursive(operations, grown, max_leaves=4))
POINTS = st.fixed_dictionaries({v: st.one_of(st.integers(1, 60), st.sampled_from([0.5, 0.25, 3.5])) for v in VARS})


class Edge(Exception):
    """The exact value sits so near a step that rounding may decide: no oracle."""


def exact(node, point) -> Fraction:
    """The value in exact arithmetic, independent of the product's own evaluation."""
    if isinstance(node, Num):
        return Fraction(node.value)
    if isinstance(node, Name):
        return Fraction(point[node.id])
    if isinstance(node, Neg):
        return -exact(node.operand, point)
    if isinstance(node, Call) and node.fn == "where":
        return exact(node.args[1] if truth(node.args[0], point) else node.args[2], point)
    if isinstance(node, Call):
        v = [exact(x, point) for x in node.args]
        if node.fn in ("min", "max"):
            return min(v) if node.fn == "min" else max(v)
        if node.fn == "ceil_to":
            return step(v[0] / v[1], math.ceil) * v[1]
        return step(v[0], math.ceil if node.fn == "ceil" else math.floor)
    a, b = exact(node.left, point), exact(node.right, point)
    if node.op == "/":
        if b == 0:
            raise Edge
        return a / b
    if node.op == "**" and abs(a) > 10**12:
        raise Edge
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "**": lambda: a ** int(b)}[node.op]()


def step(value: Fraction, rounding) -> Fraction:
    near = round(value)
    if (value.denominator & (value.denominator - 1) and abs(value - near) < Fraction(1, 10**6)) or (
        value != near and abs(value - near) < Fraction(1, 10**6)
    ):
        raise Edge
    if value == near and value.denominator == 1 and abs(value) > 2**50:
        raise Edge
    return Fraction(rounding(value))


def truth(node, point) -> bool:
    if node.op in ("and", "or"):
        a, b = truth(node.left, point), truth(node.right, point)
        return a and b if node.op == "and" else a or b
    a, b = exact(node.left, point), exact(node.right, point)
    if abs(a - b) <= abs(a) / 10**6 and (a != b or any(has_division(n) for n in (node.left, node.right))):
        raise Edge
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[node.op]


def has_division(node) -> bool:
    """Whether rounding may creep in: a quotient or a fraction that binary floats do not hold."""
    if isinstance(node, Num):
        return isinstance(node.value, float)
    if isinstance(node, Name):
        return False
    if isinstance(node, Neg):
        return has_division(node.operand)
    if isinstance(node, Call):
        return any(map(has_division, node.args))
    return node.op == "/" or has_division(node.left) or has_division(node.right)


def stepped_on_rounding(node) -> bool:
    """Whether a step function rounds a quotient (its side is then a matter of floats)."""
    if isinstance(node, Call) and node.fn in ("ceil", "floor", "ceil_to") and has_division(node.args[0]):
        return True
    return any(map(stepped_on_rounding, children(node)))


def accepted(node):
    """The tree as the parser gives it, or the example is dropped where limits of the language refuse it."""
    try:
        return parse(text(node))
    except FormulaError as error:
        assume("nested" not in str(error) and "terms" not in str(error) and "characters" not in str(error))
        raise


@settings(quick, max_examples=500)
@given(TREES)
def test_printed_formulas_parse_back(node):
    shown = text(node)
    assume(len(shown) <= 500)
    assert accepted(node) == node
    assert text(parse(shown)) == shown
    assert names(parse(shown)) == names(node)


def emitted(node, point):
    space = {"ceil": math.ceil, "floor": math.floor, "log2": math.log2, "sqrt": math.sqrt, **point}
    return eval(python(node), {"__builtins__": {"min": min, "max": max}}, space)


def same_everywhere(node, point):
    assume(len(text(node)) <= 500)
    try:
        want = exact(node, point)
    except (Edge, OverflowError, ZeroDivisionError):
        assume(False)
    assume(abs(want) < 10**25)
    scale = max(1e-9, abs(float(want)))
    try:
        direct = number(node, point)
    except FormulaError as error:  # a dead branch, or a value on the way, without a finite value
        assume(False)
        raise AssertionError from error
    assume(not stepped_on_rounding(node))
    tolerance = 1e-9 * max(scale, biggest(node, point))
    assert abs(direct - float(want)) <= tolerance, text(node)
    assert abs(emitted(node, point) - float(want)) <= tolerance, python(node)
    half = dict(list(point.items())[:2])
    try:
        partly = bind(node, half, dict.fromkeys(VARS, (0, 1000)))
    except FormulaError:
        return
    assert abs(emitted(partly, point) - float(want)) <= tolerance, python(partly)
    low, high = span(node, {k: (v, v) for k, v in point.items()})
    assert low - tolerance <= float(want) <= high + tolerance, (low, high, text(node))


def biggest(node, point) -> float:
    """The largest intermediate, which bounds what cancellation leaves."""
    parts = (
        node.args
        if isinstance(node, Call)
        else (node.operand,)
        if isinstance(node, Neg)
        else (node.left, node.right)
        if isinstance(node, Bin) and node.op not in COMPARE and node.op not in ("and", "or")
        else ()
    )
    try:
        own = abs(float(exact(node, point))) if not (isinstance(node, Bin) and (node.op in COMPARE or node.op in ("and", "or"))) else 0.0
    except (Edge, OverflowError, ZeroDivisionError):
        own = 0.0
    return max([own, *(biggest(p, point) for p in parts)])


@settings(quick, max_examples=500)
@given(TREES, POINTS)
def test_evaluation_agrees_with_exact_arithmetic(node, point):
    same_everywhere(node, point)


@pytest.mark.full
@heavy
@given(st.recursive(leaves, grown, max_leaves=30), POINTS)
def test_evaluation_agrees_with_exact_arithmetic_long(node, point):
    same_everywhere(node, point)


@few
@given(st.recursive(leaves, grown, max_leaves=7), POINTS)
def test_sympy_agrees(node, point):
    import sympy

    try:
        want = exact(node, point)
    except (Edge, OverflowError, ZeroDivisionError):
        assume(False)
    assume(abs(want) < 10**25 and not stepped_on_rounding(node))
    try:
        form = to_sympy(node, {k: sympy.Rational(v) for k, v in point.items()})
    except ZeroDivisionError:
        assume(False)
    value = sympy.N(form, 30)
    assume(value.is_number and value.is_finite)
    tolerance = 1e-9 * max(1e-9, abs(float(want)), biggest(node, point))
    assert abs(float(value) - float(want)) <= tolerance, text(node)


@pytest.mark.parametrize("formula", ["(a and b) * 2", "(a or b) + 1", "where(a, 1, 2) + (a and b)"])
def test_and_or_as_numbers(formula):
    try:
        node = parse(formula)
    except FormulaError:
        return
    point = {"a": 3, "b": 4}
    assert emitted(node, point) == number(node, point)
    assert float(to_sympy(node, point)) == number(node, point)


@settings(quick, max_examples=600)
@given(
    st.one_of(
        st.text(max_size=60),
        st.text("ab019.+-*/()<>=!,%^&|~[]{}:'\" \n\t\\#@$_eEjxo", max_size=40),
        st.lists(
            st.sampled_from(
                [
                    "a",
                    "1",
                    "+",
                    "-",
                    "*",
                    "**",
                    "/",
                    "(",
                    ")",
                    ",",
                    "min",
                    "max(",
                    "where(",
                    "ceil",
                    "<",
                    "==",
                    "and",
                    "or",
                    "not",
                    "if",
                    "else",
                    "lambda",
                    "import",
                    ".",
                    "__class__",
                    "=",
                    " ",
                    "1e999",
                    "\n",
                    "#",
                    "None",
                    "True",
                    ":=",
                ]
            ),
            max_size=25,
        ).map("".join),
    )
)
def test_random_text_raises_formula_errors_only(body):
    try:
        node = parse(body)
    except FormulaError as error:
        assert str(error)
        assert error.column >= 1
    else:
        assert parse(text(node)) == node
        try:
            number(node, dict.fromkeys(names(node), 3))
            bind(node, {}, dict.fromkeys(names(node), (0, 1)))
        except FormulaError:
            return


@few
@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.lists(st.integers(), max_size=2),
        st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
        st.binary(max_size=4),
    )
)
def test_other_values_raise_formula_errors_only(value):
    try:
        node = parse(value)
    except FormulaError:
        return
    assert node == Num(value) or value != value


# Dimensions

DIMS = {"a": COUNT, "b": COUNT, "c": BYTE, "n_q": unit("B/s")[1], "T": unit("s")[1]}


class Unfit(Exception):
    pass


def measure(node) -> Dim:
    """The dimension by the rules of physics, written independently."""
    if isinstance(node, Num):
        return COUNT
    if isinstance(node, Name):
        return DIMS[node.id]
    if isinstance(node, Neg):
        return measure(node.operand)
    if isinstance(node, Call):
        dims = [measure(x) for x in node.args]
        return alike(list(zip(node.args, dims, strict=True))[1 if node.fn == "where" else 0 :])
    left, right = measure(node.left), measure(node.right)
    if node.op in ("*", "/"):
        sign = 1 if node.op == "*" else -1
        return Dim(*(x + sign * y for x, y in zip(left, right, strict=True)))
    if node.op == "**":
        if right != COUNT:
            raise Unfit
        return Dim(*(x * int(node.right.value) for x in left))
    if node.op in ("and", "or"):
        return COUNT
    both = alike([(node.left, left), (node.right, right)])
    return COUNT if node.op in COMPARE else both


def alike(pairs) -> Dim:
    dims = {d for n, d in pairs if n != Num(0)}
    if len(dims) > 1:
        raise Unfit
    return dims.pop() if dims else COUNT


@settings(quick, max_examples=500)
@given(TREES)
def test_dimensions_agree_with_an_independent_check(node):
    try:
        want = measure(node)
    except Unfit:
        with pytest.raises(FormulaError):
            dimension(node, DIMS)
    else:
        assert dimension(node, DIMS) == want


@quick
@given(TREES, st.floats(0.5, 4))
def test_values_scale_with_their_dimension(node, factor):
    """A formula of a dimension is homogeneous: counting bytes in other units scales the result by the power of bytes."""
    assume(not any(isinstance(n, Call) and n.fn in ("ceil", "floor", "ceil_to") for n in walk(node)))
    try:
        power = dimension(node, DIMS).byte
    except FormulaError:
        assume(False)
    point = {"a": 3, "b": 5, "c": 7.0, "n_q": 11.0, "T": 13}
    scaled = {**point, "c": 7.0 * factor, "n_q": 11.0 * factor}
    try:
        before, after = number(node, point), number(node, scaled)
    except FormulaError:
        assume(False)
    tolerance = 1e-6 * max(1.0, abs(after), biggest(node, point) * factor ** abs(power))
    assert abs(before * factor**power - after) <= tolerance or conditions(node)


def conditions(node) -> bool:
    """Comparisons of quantities that rounding may turn."""
    return any(isinstance(n, Bin) and n.op in ("==", "!=", "<", "<=", ">", ">=") for n in walk(node))


def test_dimensions_print_themselves():
    for dim in {d for _, d in UNITS.values()}:
        assert str(dim)
    assert set(BASES) >= {"byte", "s"}


# Arguments

HEADS = st.sampled_from(["hw", "model", "tech", "engine", "hv", ""])
SET_TEXT = st.one_of(
    st.text(max_size=40),
    YAMLISH,
    st.builds(
        lambda head, path, value: f"{head}.{'.'.join(path)}={value}", HEADS, st.lists(st.text("abLd_.0", max_size=4), max_size=5), YAMLISH
    ),
    st.builds(
        lambda path, value: f"{path}={value}",
        st.sampled_from(
            [
                "hw.memory.vram.bandwidth",
                "hw.usable",
                "hw.features",
                "hw.host.dram",
                "hw.links",
                "model.dims.L",
                "model.weights",
                "engine.efficiency.weights",
            ]
        ),
        st.one_of(YAMLISH, st.sampled_from(["1", "1 GB/s", "[]", "{}", "null", "true", "= 1/0", "-1", "1e300", "0.5"])),
    ),
)


@settings(quick, max_examples=300)
@given(st.lists(SET_TEXT, min_size=1, max_size=2))
def test_set_text(texts):
    try:
        found = parse_sets(texts)
    except SpecError as error:
        assert "--set #" in str(error)
        return
    for head, kind, name in (("hw", "hardware", "rtx4090"), ("model", "model", "decoder"), ("engine", "engine", "ideal")):
        if found.get(head):
            try:
                LIBRARY._load(kind, name, tuple(found[head]), None)
            except SpecError as error:
                assert str(error)


@settings(quick, max_examples=300)
@given(
    st.one_of(
        st.text(max_size=40),
        st.builds(
            lambda name, knobs: name + ":" + ",".join(knobs),
            st.sampled_from(["offload", "int4", "gqa", "mtp", "kv-eviction", "speculative-decoding", "nope", ""]),
            st.lists(
                st.builds(
                    lambda k, e, v: k + e + v,
                    st.sampled_from(["share", "tier", "format", "kv_heads", "extra", "budget", "draft", "q", ""]),
                    st.sampled_from(["=", "", "==", " = "]),
                    st.one_of(YAMLISH, st.sampled_from(["1", "0.5", "host", "awq", "-1", "1e9", "true", "[1]"])),
                ),
                max_size=3,
            ),
        ),
    )
)
def test_technique_text(body):
    try:
        use = read_use(LIBRARY, body)
    except SpecError as error:
        assert error.problems[0].mark is not None
    else:
        assert read_use(LIBRARY, use.text()).values == use.values


def test_the_corpus_is_there():
    assert len(CORPUS) > 20
    assert all(isinstance(p, Path) for p in SPECS)
