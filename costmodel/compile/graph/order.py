"""How nodes are laid out as statements: what gets a name, what stands in a loop, and sums and products by what they depend on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .nodes import Node, needed


class Layout:
    """Statements for some outputs. `axes` are the inputs that are arrays; other nodes are single numbers.

    A node gets a name where it is used twice, is an output, or is a sum over an index; the rest is written in place.
    """

    def __init__(self, outputs: Iterable[Node], axes: Iterable[str] = ()):
        self.outputs, self.axes = list(outputs), frozenset(axes)
        self.order = needed(self.outputs)
        self.indices = {n.value for n in self.order if n.op == "sum"}
        self.uses = Counter(a.id for n in self.order for a in n.args)
        self.uses.update(n.id for n in self.outputs)
        self.loops: dict[int, list[Node]] = {}
        for node in self.order:
            if node.op == "sum":
                self.loops[node.id] = [n for n in needed(node.args[1:]) if node.value in n.deps]

    def named(self, node: Node) -> bool:
        """Whether the node is a statement of its own."""
        if node.op in ("const", "input"):
            return False
        if node.op == "sum":
            return True
        return self.uses[node.id] > 1 or any(node.id == o.id for o in self.outputs)

    def outer(self) -> list[Node]:
        """The statements outside of loops, in order."""
        return [n for n in self.order if self.named(n) and not n.deps & self.indices]

    def inner(self, loop: Node) -> list[Node]:
        """The statements of a loop, the last of which is what it adds."""
        return [n for n in self.loops[loop.id] if n is loop.args[1] or (self.named(n) and n.op != "sum")]

    def along(self, node: Node) -> frozenset[str]:
        """The axes that a node varies along (with those of the loop that it stands in)."""
        return node.deps & (self.axes | self.indices)

    def terms(self, node: Node) -> list[Node]:
        """The terms of a sum: those of inner sums that are used nowhere else stand for these."""
        return self._flat(node, ("+",))

    def _flat(self, node: Node, ops: tuple[str, ...]) -> list[Node]:
        found, waiting = [], [node]
        while waiting:
            current = waiting.pop()
            if current.op in ops and (current is node or not self.named(current)):
                waiting += reversed(current.args)
            else:
                found.append(current)
        return found

    def factors(self, node: Node) -> tuple[list[Node], list[Node]]:
        """What a product multiplies, and what it divides by."""
        over: list[Node] = []
        under: list[Node] = []
        waiting = [(node, True)]
        while waiting:
            current, above = waiting.pop()
            if current.op in ("*", "/") and (current is node or not self.named(current)):
                left, right = current.args
                waiting += [(right, above if current.op == "*" else not above), (left, above)]
            else:
                (over if above else under).append(current)
        return [n for n in over if n.op != "const" or n.value != 1] or over[:1], under

    def grouped(self, nodes: list[Node]) -> list[list[Node]]:
        """Nodes by the axes that they vary along, single numbers first: so that little is done on large arrays."""
        groups: dict[frozenset, list[Node]] = {}
        for node in nodes:
            groups.setdefault(self.along(node), []).append(node)
        return [groups[key] for key in sorted(groups, key=lambda k: (len(k), sorted(k)))]
