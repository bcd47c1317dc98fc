"""A machine-bound program as Python source: one function per question, constants folded, equal rows merged.

`step` evaluates one group of sequences; `rows` gives every row's terms (for reports and mixed steps); `held` the KV and
state bytes; `scratch` the workspace; `plan` the schedule; `coefs` turns rates into the coefficients that `step` uses.
"""

from __future__ import annotations

from ..language.formula import Node, Num
from ..language.formula.write import python
from .machine import Machine
from .placement import Placed
from .schedule import DEFAULTS

ROW_TERMS = ("f", "w", "k", "s", "a", "l", "fw", "fk", "h")
PLAN = ("batch", *(name for name in DEFAULTS if name != "batch"))
_ARGS = "B, T, S, R, M, H"


class Emitter:
    """Writes the source of one machine."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.coefs = {f"r[{name!r}]": name for name in machine.left()}  # expression over rates → variable
        self.scales = {"w": "w_scale", "k": "kv_scale"} if machine.open else {}

    def source(self, meta: dict, children: dict[str, str]) -> str:
        """The whole module."""
        body = [self.step(), self.rows(), self.held(), self.scratch(), self.plan(), self.also(), self.coef_function()]
        head = ["from math import ceil, floor, log2, sqrt", f"META = {meta!r}", f"CHILDREN = {children!r}"]
        return "\n".join([*head, *body]) + "\n"

    def coef(self, expression: str) -> str:
        """The variable of a coefficient that depends on rates only."""
        return self.coefs.setdefault(expression, f"c{len(self.coefs)}")

    def inverse(self, rate: str, eff: Node, factor: Node = Num(1)) -> str:
        """`1 / (eff · factor · rate)`: hoisted unless the efficiency depends on the tokens in the pass."""
        parts = [f"r[{rate!r}]"]
        if factor != Num(1):
            parts.append(python(factor))
        if isinstance(eff, Num) and eff.value != 1:
            parts.append(repr(min(1, eff.value)))
        hoisted = self.coef(f"1 / ({' * '.join(parts)})")
        return hoisted if isinstance(eff, Num) else f"({hoisted} / min(1.0, max(1e-6, {python(eff)})))"

    def step(self) -> str:
        """One pass over one group: totals, floor and expected seconds."""
        lines = [f"def step({_ARGS}, c):"]
        body = [
            "f = w = k = s = a = l = st = fw = fk = fs = hw = hb = x = 0",
            *(f"{v} = 0" for v in self.sums()),
        ]
        for group, repeat in self.merged():
            body += self.row_lines(group, repeat)
        body += self.overheads()
        body += self.floor_lines()
        body.append("return f, w, k, s, a, l, st, q, x if x > q else q, fl, ms, sl")
        unpack = [f"({', '.join(self.coefs.values())},) = c"] if self.coefs else []
        return "\n".join(lines + ["    " + line for line in unpack + body]) + "\n"

    def sums(self) -> list[str]:
        """Accumulators of FLOPs per unit and type, and of bytes per link or lower tier: moved (`X_`) and compulsory (`S_`)."""
        found = {f"F_{p.unit}_{p.math}" for p in self.machine.placed if p.math != "none"}
        slow = {key.partition("@")[2] for p in self.machine.placed for key in p.streams}
        slow |= {p.row.link for p in self.machine.placed if p.terms["l"] != Num(0)}
        return sorted(found) + sorted(kind + name for kind in ("S_", "X_") for name in slow)

    def merged(self) -> list[tuple[Placed, int]]:
        """Rows that differ in name only, once, with their repeats added."""
        groups: dict = {}
        for item in self.machine.placed:
            key = (
                item.unit,
                item.math,
                item.rate,
                item.row.link,
                tuple(item.terms[t] for t in ROW_TERMS),
                tuple(item.streams.items()),
                tuple(item.eff.items()),
            )
            if key in groups:
                groups[key] = (groups[key][0], groups[key][1] + item.repeat)
            else:
                groups[key] = (item, item.repeat)
        return list(groups.values())

    def row_lines(self, item: Placed, repeat: int) -> list[str]:
        """Statements of one row: add to the totals, then the row's time."""
        t = item.terms
        lines = [f"{name}_ = {self.term(name, t[name])}" for name in ROW_TERMS if t[name] != Num(0) and name not in ("fw", "fk")]
        n = "" if repeat == 1 else f"{repeat} * "
        for name in ("f", "w", "k", "s", "a", "l"):
            if t[name] != Num(0):
                lines.append(f"{name} += {n}{name}_")
        if t["f"] != Num(0):
            rate = "" if item.rate == Num(1) else f" / {python(item.rate)}"
            lines.append(f"F_{item.unit}_{item.math} += {n}f_{rate}")
        if t["l"] != Num(0):
            lines += [f"{kind}_{item.row.link} += {n}l_" for kind in "SX"]
        if t["s"] != Num(0) and item.unit == "device":
            lines.append(f"fs += {n}s_")
        if item.unit == "host":
            kept = 1.0 - sum(share for key, share in item.streams.items() if key.startswith("weights@"))
            moved = [f"{v}_" if v != "w" or kept == 1 else f"{kept!r} * w_" for v in ("w", "k", "s", "a") if t[v] != Num(0)]
            if moved:
                lines.append(f"hb += {n}({' + '.join(moved)})")
        lines += self.compulsory(item, n)
        time = self.row_time(item)
        if time:
            lines.append(f"x += {n}({time})")
        return lines

    def term(self, name: str, node: Node) -> str:
        """The source of a row's term, times its scale on a machine that is left open."""
        scale = self.scales.get(name)
        return f"{scale} * ({python(node)})" if scale else python(node)

    def compulsory(self, item: Placed, n: str) -> list[str]:
        """Compulsory bytes: on the device (`fw`, `fk`), on the host (`hw`), streamed (`st`, per tier)."""
        lines = []
        for what, var, floor in (("weights", "w", "fw"), ("kv", "k", "fk")):
            node, low = item.terms[var], item.terms[floor]
            if node == Num(0):
                continue
            low_text = f"{var}_" if low == node else self.term(var, low)
            left = 1.0
            for key, share in item.streams.items():
                if key.startswith(what + "@"):
                    left -= share
                    tier = key.partition("@")[2]
                    lines += [
                        f"st += {n}{share!r} * {var}_",
                        f"X_{tier} += {n}{share!r} * {var}_",
                        f"S_{tier} += {n}{share!r} * {low_text if ' ' not in low_text else '(' + low_text + ')'}",
                    ]
            target = floor if item.unit == "device" else "hw"
            scale = "" if left == 1 else f"{left!r} * "
            lines.append(f"{target} += {n}{scale}({low_text})")
        return lines

    def row_time(self, item: Placed) -> str:
        """Expected seconds of one row: the longest of compute, memory and streams, then link and hops."""
        t, host = item.terms, item.unit == "host"
        bandwidth = "hram" if host else "bw"
        choices = []
        if t["f"] != Num(0):
            peak = f"{'hpk_' if host else 'pk_'}{item.math}"
            choices.append(f"f_ * {self.inverse(peak, item.eff['compute'], item.rate)}")
        memory = []
        for what, var in (("weights", "w"), ("kv", "k"), ("state", "s"), ("activations", "a")):
            if t[var] == Num(0):
                continue
            left = 1.0 - sum(share for key, share in item.streams.items() if key.startswith(what + "@"))
            if left:
                scale = "" if left == 1 else f"{left!r} * "
                memory.append(f"{scale}{var}_ * {self.inverse(bandwidth, item.eff[what])}")
        if memory:
            choices.append(" + ".join(memory))
        for key, share in item.streams.items():
            what, _, tier = key.partition("@")
            var = {"weights": "w", "kv": "k"}[what]
            if t[var] != Num(0):
                choices.append(f"{share!r} * {var}_ * {self.inverse(tier, item.eff['host'])}")
        terms = [f"max({', '.join(choices)})" if len(choices) > 1 else choices[0]] if choices else []
        if t["l"] != Num(0):
            terms.append(f"l_ * {self.inverse(item.row.link, item.eff['link' if item.row.link == 'peer' else 'host'])}")
        if t["h"] != Num(0):
            terms.append(f"h_ * {self.coef('r[' + repr(item.row.link + '_latency') + ']')}")
        return " + ".join(terms)

    def overheads(self) -> list[str]:
        """Fixed times of a pass."""
        node = self.machine.fixed
        return [] if node == Num(0) else [f"x += {python(node)}"]

    def floor_lines(self) -> list[str]:
        """`q`: the longest of the resources; `fl`, `ms`, `sl`: seconds of compute, of memory, and of the slowest link or lower tier."""
        compute: dict[str, list[str]] = {"device": [], "host": []}
        for name in self.sums():
            if name.startswith("F_"):
                _, unit, math = name.split("_")
                rate = ("pk_" if unit == "device" else "hpk_") + math
                compute[unit].append(f"{name} * {self.inverse(rate, Num(1))}")
        on_host = bool(compute["host"]) or any(p.unit == "host" for p in self.machine.placed)
        bandwidth = self.inverse("bw", Num(1))
        lines = [f"fd = {' + '.join(compute['device']) or '0'}", f"fl = {' + '.join(['fd', *compute['host']])}"]
        host_memory = f" + hb * {self.inverse('hram', Num(1))}" if on_host else ""
        lines.append(f"ms = (w + k + s + a - st - hb) * {bandwidth}{host_memory}")
        floors = ["fd", f"(fw + fk + fs) * {self.inverse('bw', Num(1))}"]
        if on_host:
            floors += [" + ".join(compute["host"]) or "0", f"hw * {self.inverse('hram', Num(1))}"]
        floors += [f"{name} * {self.inverse(name[2:], Num(1))}" for name in self.sums() if name.startswith("S_")]
        slow = [f"{name} * {self.inverse(name[2:], Num(1))}" for name in self.sums() if name.startswith("X_")]
        lines.append(f"sl = max({', '.join(slow)})" if len(slow) > 1 else f"sl = {slow[0] if slow else 0}")
        return [*lines, f"q = max({', '.join(floors)})"]

    def rows(self) -> str:
        """Every placed row's terms, and beside it (in META) what it is."""
        items = ",\n        ".join("(" + ", ".join(python(p.terms[t]) for t in ROW_TERMS) + ")" for p in self.machine.placed)
        return f"def rows({_ARGS}):\n    return (\n        {items},\n    )\n"

    def held(self) -> str:
        """KV and state bytes for B sequences of S cached tokens, by tier: (kv, state, kv on host, kv on disk, state on host)."""
        sums: dict[str, list[str]] = {"device": [], "host": [], "disk": []}
        state: dict[str, list[str]] = {"device": [], "host": []}
        for item in self.machine.placed:
            if item.terms["hs"] != Num(0):
                state[item.unit].append(f"{item.repeat} * ({python(item.terms['hs'])})")
            if item.terms["hk"] == Num(0):
                continue
            text = f"{item.repeat} * ({python(item.terms['hk'])})"
            left = 1.0
            for key, share in item.streams.items():
                if key.startswith("kv@"):
                    left -= share
                    sums[key[3:]].append(f"{share!r} * {text}")
            home = "device" if item.unit == "device" else "host"
            sums[home].append(text if left == 1 else f"{left!r} * {text}")
        parts = [_sum(sums["device"]), _sum(state["device"]), _sum(sums["host"]), _sum(sums["disk"]), _sum(state["host"])]
        return f"def held(B, S):\n    T = 0\n    return {', '.join(parts)}\n"

    def scratch(self) -> str:
        """Workspace of one pass: the largest of its rows, on the device and on the host."""
        parts = []
        for unit in ("device", "host"):
            found = [p.terms["ws"] for p in self.machine.placed if p.unit == unit and p.terms["ws"] != Num(0)]
            parts.append(f"max(0, {', '.join(dict.fromkeys(map(python, found))) or '0'})")
        return f"def scratch({_ARGS}):\n    return {', '.join(parts)}\n"

    def plan(self) -> str:
        """The schedule's fields, in the order of `PLAN`."""
        fields = self.machine.program.fields
        values = ", ".join(python(fields[name].node) for name in PLAN[1:])
        batch = python(fields["batch"].node)
        return f"def plan(prompt, output, context, batch{self.knobs()}):\n    batch = {batch}\n    return batch, {values}\n"

    def knobs(self) -> str:
        """Knobs that are left open, as arguments with their values."""
        return "".join(f", {name}={value!r}" for use in self.machine.program.uses for name, value in use.open_knobs().items())

    def also(self) -> str:
        """T, S, R and repeat of the other model's steps beside each decode step."""
        entry = self.machine.program.also
        if entry is None:
            return "also = None\n"
        values = ", ".join(python(entry.node[n]) for n in ("T", "S", "R", "repeat"))
        batch = python(self.machine.program.fields["batch"].node)
        return f"def also(prompt, output, context, batch{self.knobs()}):\n    batch = {batch}\n    return {values}\n"

    def coef_function(self) -> str:
        """Coefficients from rates."""
        items = ", ".join(self.coefs) + "," if self.coefs else ""
        return f"def coefs(r):\n    return ({items})\n"


def _sum(parts: list[str]) -> str:
    return " + ".join(parts) or "0"


def row_table(machine: Machine) -> list[tuple]:
    """What each placed row is: (block, name, role, op, unit, repeat, math, rate, efficiencies as formula text, streams, bits, link)."""
    from ..language.formula.write import text

    table = []
    for p in machine.placed:
        eff = {k: (v.value if isinstance(v, Num) else text(v)) for k, v in p.eff.items()}
        rate = p.rate.value if isinstance(p.rate, Num) else 1
        table.append(
            (p.row.block, p.row.name, p.row.role, p.row.op, p.unit, p.repeat, p.math, rate, eff, dict(p.streams), p.bits, p.row.link)
        )
    return table
