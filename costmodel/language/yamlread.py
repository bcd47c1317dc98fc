"""Reading YAML 1.2 with a mark for every key and value.

One pass over the parser's events: no recursion, no aliases, no tags, no duplicate keys, bounded size and depth.
Scalars follow the YAML 1.2 core rules (`1e9` is a number, `no` is text); a leading zero is refused.
"""

from __future__ import annotations

import re

from .problem import Mark, Problem, Source, SpecError

MAX_BYTES = 1 << 20
MAX_DEPTH = 40
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_ZERO = re.compile(r"[-+]?0[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?\Z")
_BASED = re.compile(r"0x[0-9a-fA-F]{1,16}\Z|0o[0-7]{1,20}\Z")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NOT_NUMBERS = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")


class Document:
    """A YAML text read into plain values: `data`, and `marks` from path (a tuple) to (key mark, value mark)."""

    __slots__ = ("data", "marks", "source")

    def __init__(self, data, marks: dict, source: Source):
        self.data, self.marks, self.source = data, marks, source

    def mark(self, path=(), key: bool = False) -> Mark:
        """The place of `path`, or of its nearest enclosing entry; `key` asks for the key instead of the value."""
        path = tuple(path)
        while path and path not in self.marks:
            path, key = path[:-1], False
        pair = self.marks.get(path)
        return pair[0 if key else 1] if pair else Mark(self.source, 1, 1)


def read_text(raw: bytes, name: str) -> Source:
    """Decode a document's bytes; refuses large, non-UTF-8 and binary content."""
    source = Source(name, "")
    if len(raw) > MAX_BYTES:
        raise SpecError(Problem(f"the file is larger than {MAX_BYTES:,} bytes, the most that a document has", Mark(source, 1, 1)))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8-sig")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        source = Source(name, raw.decode("utf-8", "replace"))
        raise SpecError(Problem("this is not UTF-8 text", Mark(source, line, column))) from None
    bad = None if text.replace("\n", "").isprintable() else next((i for i, c in enumerate(text) if _forbidden(c)), None)
    if bad is not None:
        line, column = text.count("\n", 0, bad) + 1, bad - text.rfind("\n", 0, bad)
        message = f"control character U+{ord(text[bad]):04X} in the text; this is not a YAML document"
        raise SpecError(Problem(message, Mark(Source(name, text), line, column)))
    return Source(name, text)


def _forbidden(char: str) -> bool:
    """Control characters (but tab and line breaks), surrogates, non-characters and text-direction marks."""
    if char in "\n\r\t\x85":
        return False
    return (
        char < " "
        or "\x7f" <= char <= "\x9f"
        or char in "\u200e\u200f\ufffe\uffff"
        or "\u202a" <= char <= "\u202e"
        or "\u2066" <= char <= "\u2069"
    )


def parse(source: Source) -> Document:
    """Parse one YAML document. Raises :class:`SpecError` with the place of every problem found."""
    builder = _Builder(source)
    builder.run()
    if builder.problems:
        raise SpecError(builder.problems)
    return Document(builder.root, builder.marks, source)


class _Builder:
    def __init__(self, source: Source):
        self.source = source
        self.problems: list[Problem] = []
        self.marks: dict[tuple, tuple[Mark, Mark]] = {}
        self.root = None
        self.stack: list = []  # frames: [container, path, pending key (mapping), flow?, key mark]

    def run(self) -> None:
        import yaml

        bad = next((c for c in self.source.text if "\ud800" <= c <= "\udfff"), None)
        if bad is not None:
            self.problems.append(Problem("the text is not valid Unicode", Mark(self.source, 1, 1)))
            return
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(self.source.text)
        documents = 0
        try:
            while True:
                event = loader.get_event()
                kind = type(event).__name__
                if kind == "StreamEndEvent":
                    break
                if kind == "DocumentStartEvent":
                    documents += 1
                    if documents > 1:
                        self.report("a second `---` document; a file holds one", event)
                        break
                else:
                    getattr(self, "on_" + kind, self.ignore)(event)
                if len(self.stack) > MAX_DEPTH:
                    self.report(f"nested deeper than {MAX_DEPTH} levels", event)
                    break
        except yaml.YAMLError as error:
            self.syntax(error)
        finally:
            loader.dispose()

    def syntax(self, error) -> None:
        mark = getattr(error, "problem_mark", None)
        where = Mark(self.source, mark.line + 1, mark.column + 1) if mark else Mark(self.source, 1, 1)
        text = getattr(error, "problem", None) or str(error).splitlines()[0]
        self.problems.append(Problem(f"not valid YAML: {text}", where, self.hint(where)))

    def hint(self, where: Mark) -> str | None:
        lines = self.source.lines
        line = lines[where.line - 1] if where.line <= len(lines) else ""
        if "\t" in line:
            return "indent with spaces, not tabs"
        if line.count("(") != line.count(")") or re.search(r":\s*[*%@&!]", line):
            return "put the formula or text in quotes"
        return None

    def place(self, event) -> Mark:
        return Mark(self.source, event.start_mark.line + 1, event.start_mark.column + 1)

    def report(self, message: str, event, help: str | None = None, also=()) -> None:
        self.problems.append(Problem(message, self.place(event), help, tuple(also)))

    def ignore(self, event) -> None:
        pass

    def on_AliasEvent(self, event) -> None:
        self.report(f"alias `*{event.anchor}`: aliases are not allowed", event, "write the value out")
        self.add(None, event)

    def check(self, event) -> None:
        if event.anchor:
            self.report(f"anchor `&{event.anchor}`: anchors are not allowed", event, "write the value out")
        if event.tag and event.tag != "!":
            self.report(f"tag `{event.tag}`: tags are not allowed", event, "remove it; quote the text if it starts with `!`")

    def on_ScalarEvent(self, event) -> None:
        self.check(event)
        if not event.value.isprintable():
            bad = next((c for c in event.value if _forbidden(c)), None)
            if bad is not None:
                self.report(f"control character U+{ord(bad):04X} in the text", event, "remove it")
        frame = self.stack[-1] if self.stack else None
        if frame and isinstance(frame[0], dict) and frame[2] is None:
            return self.key(frame, event)
        plain = event.implicit[0]
        value = self.scalar(event) if plain else event.value
        if value is None and not event.value and frame and frame[3] and isinstance(frame[0], dict):
            self.report(f"`{frame[2]}` has no value", event, "in a `{…}` map, quote text that holds a comma or a colon")
        self.add(value, event)

    def scalar(self, event):
        text = event.value
        if text in _WORDS:
            return _WORDS[text]
        if _INT.match(text):
            if len(text) > 40:
                self.report("a number of more than 40 digits", event)
                return 0
            return int(text)
        if _FLOAT.match(text):
            value = float(text)
            if value in (float("inf"), float("-inf")):
                self.report("the number is too large", event)
            return value
        if _BASED.match(text):
            return int(text, 0)
        if _ZERO.match(text):
            self.report(f"`{text}` has a leading zero", event, "drop the zero, or quote it if it is text")
        if _NOT_NUMBERS.match(text):
            self.report(f"`{text}` is not a finite number", event)
        return text

    def key(self, frame, event) -> None:
        name = event.value
        path = (*frame[1], name)
        if path in self.marks:
            first = self.marks[path][0]
            self.report(f"`{name}` is given twice", event, "keep one", [(first, "and here")])
        frame[2], frame[4] = name, self.place(event)

    def add(self, value, event) -> None:
        mark = self.place(event)
        if not self.stack:
            self.root, self.marks[()] = value, (mark, mark)
            return
        frame = self.stack[-1]
        container, path = frame[0], frame[1]
        if isinstance(container, list):
            self.marks[(*path, len(container))] = (mark, mark)
            container.append(value)
        elif frame[2] is None:
            self.report("a key must be plain text", event)
            frame[2], frame[4] = f"?{len(container)}", mark
        else:
            name = frame[2]
            self.marks.setdefault((*path, name), (frame[4], mark))
            container.setdefault(name, value)
            frame[2] = None

    def open(self, container, event) -> None:
        self.check(event)
        path = ()
        if self.stack:
            frame = self.stack[-1]
            index = len(frame[0]) if isinstance(frame[0], list) else frame[2]
            path = (*frame[1], index if index is not None else "?")
        self.add(container, event)
        flow = bool(getattr(event, "flow_style", False))
        self.stack.append([container, path, None, flow, None])

    def on_MappingStartEvent(self, event) -> None:
        self.open({}, event)

    def on_SequenceStartEvent(self, event) -> None:
        self.open([], event)

    def on_MappingEndEvent(self, event) -> None:
        self.stack.pop()

    on_SequenceEndEvent = on_MappingEndEvent
