"""What every document shares: header, sources, and the field types Text, Quantity and Formula."""

from __future__ import annotations

from keyword import iskeyword
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from ..language import units
from ..language.formula import Bin, FormulaError, Name, Node, Num, parse
from ..language.formula.dims import check
from ..language.formula.fold import number
from ..language.formula.nodes import FUNCTIONS
from ..language.units import BYTE, BYTE_RATE, COUNT, FLOP_RATE, SECOND, WATT, Dim, UnitError
from ..sizes import MOST, read_size

__all__ = ["Doc", "Part", "Source", "Title"]

NAME = r"^[a-z0-9][a-z0-9._+-]*$"
IDENT = r"^[A-Za-z_][A-Za-z0-9_]*$"
DTYPES = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8", "int4")


def refuse(message: str, help: str | None = None, column: int | None = None) -> PydanticCustomError:
    """An error of one field; `column` counts from 1 inside the scalar."""
    safe = message.replace("{", "(").replace("}", ")")
    return PydanticCustomError("costmodel", safe, {"help": help or "", "column": column or 0})


class Part(BaseModel):
    """A mapping inside a document: unknown fields are refused, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, validate_default=True)


class Title(Part):
    """A title in English and, optionally, Korean."""

    en: str
    ko: str | None = None


def _title(value: Any) -> Any:
    return {"en": str(value)} if isinstance(value, (str, int, float)) and not isinstance(value, bool) else value


_TITLE_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {"en": {"type": "string"}, "ko": {"type": "string"}},
            "required": ["en"],
            "additionalProperties": False,
        },
    ]
}
TitleField = Annotated[Title, BeforeValidator(_title), WithJsonSchema(_TITLE_SCHEMA)]
Text = Annotated[str, BeforeValidator(lambda v: str(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else v)]


class Source(Part):
    """Where a number comes from."""

    kind: Literal["datasheet", "paper", "measured", "derived", "assumed"]
    """`assumed` is said with every prediction that uses the figure."""
    ref: Text
    """What it is: a title, a table, a run."""
    url: str | None = None
    """Where it is."""
    date: Text | None = None
    """When it was read or measured."""
    where: Text | None = None
    """Page, table or section."""


class Doc(Part):
    """The header of every document."""

    schema_: str = Field(alias="schema", description="`costmodel/<kind>@1`, the first line")
    name: str = Field(pattern=NAME, max_length=80)
    """The file's name without `.yaml`."""
    title: TitleField | None = None
    """Shown in reports; text or `{en: …, ko: …}`."""
    description: Text = ""
    """For readers; shown on its page."""
    extends: str | None = None
    """One parent document of the same kind; this one is merged over it."""
    abstract: bool = False
    """A parent only: it cannot be used by itself."""
    aliases: tuple[Text, ...] = ()
    """Other names that people type."""
    sources: dict[str, Source] = {}
    """Field, or group of fields, to where its figures come from."""

    def label(self, lang: str = "en") -> str:
        """The title in `lang`, English where there is none, else the name."""
        if self.title is None:
            return self.name
        return (self.title.ko if lang == "ko" else None) or self.title.en


def quantity(want: Dim, *, positive: bool = True, low: float | None = None, high: float | None = None):
    """A field type: a number with unit of dimension `want`, or `= formula` over the document's `params`."""

    def read(value: Any, info) -> float | int | None:
        if value is None:
            return None
        try:
            if isinstance(value, str) and value.lstrip().startswith("="):
                result = _from_formula(value, want, info.context or {})
            else:
                result = units.quantity(value, want)
        except UnitError as error:
            raise refuse(str(error), error.help) from None
        except FormulaError as error:
            raise refuse(str(error), error.help, error.column) from None
        return _in_range(result, 0 if positive else low, high, positive)

    shape = {"type": ["string", "number"] if want == COUNT else "string", "examples": [units.example(want)]}
    return Annotated[float | int, BeforeValidator(read), WithJsonSchema(shape)]


def _in_range(result, low, high, strict: bool):
    if abs(result) > 1e30 or (strict and 0 < result < 1e-15):
        raise refuse(f"{result:g} is not a plausible value")
    if low is not None and (result < low or (strict and result <= low)):
        raise refuse(f"want {'a value greater than' if strict else 'at least'} {low}, got {result:g}")
    if high is not None and result > high:
        raise refuse(f"want at most {high}, got {result:g}")
    return result


def _from_formula(value: str, want: Dim, context: dict) -> float | int:
    params = context.get("params", {})
    node = parse(value)
    check(node, {k: d for k, (_, d) in params.items()}, want if want != FLOP_RATE else (FLOP_RATE, COUNT.times(SECOND, -1)))
    return number(node, {k: v for k, (v, _) in params.items()})


def _formula(value: Any) -> Node | None:
    if value is None:
        return None
    try:
        return parse(value)
    except FormulaError as error:
        raise refuse(str(error), error.help, error.column) from None


_FORMULA = WithJsonSchema({"type": ["string", "number"], "description": "formula", "examples": ["2 * B * T * d"]})
Formula = Annotated[Any, BeforeValidator(_formula), _FORMULA]


def _expression(value: Any) -> Node:
    if value is None:
        raise refuse("want a formula, got nothing", "write `0` for none")
    return _formula(value)  # type: ignore[return-value]


Expression = Annotated[Any, BeforeValidator(_expression), _FORMULA]
"""A formula that cannot be left empty: the entries of a mapping of formulas."""


def _time(value: Any) -> Node | None:
    """A time literal, or a formula that comes out in seconds (`second` is one second)."""
    try:
        return Bin("*", Num(units.quantity(value, SECOND)), Name("second"))
    except UnitError as error:
        if not isinstance(value, str):
            if value is None or value == 0:
                return None if value is None else Num(0)
            raise refuse(str(error), error.help) from None
        return _formula(value)


Time = Annotated[Any, BeforeValidator(_time), WithJsonSchema({"type": "string", "description": "time or formula", "examples": ["4 us"]})]
Bytes = quantity(BYTE)
Room = quantity(BYTE, positive=False, low=0)
ByteRate = quantity(BYTE_RATE)
FlopRate = quantity(FLOP_RATE)
Seconds = quantity(SECOND, positive=False, low=0)
Watts = quantity(WATT)
Fraction = quantity(COUNT, high=1)
Positive = quantity(COUNT)


def _identifier(value: Any) -> Any:
    if isinstance(value, str) and (iskeyword(value) or value in FUNCTIONS or value.startswith("__")):
        raise refuse(f"`{value}` is a word of the language", "choose another name")
    return value


def _count(value: Any) -> Any:
    """A whole number, or a size such as `128k`."""
    if isinstance(value, str):
        if value.strip().isdigit():
            raise refuse("want a number, not text", "drop the quotes")
        try:
            return read_size(value)
        except ValueError:
            raise refuse(f"`{value[:40]}` is not a count", "write 131072 or 128k") from None
    if isinstance(value, bool):
        raise refuse("want a whole number, got true or false")
    return value


def count(low: int = 1, high: int = MOST):
    """A field type: a whole number in a range; sizes may be written `128k`."""
    shape = {"type": ["integer", "string"], "examples": [4096, "128k"]}
    return Annotated[int, BeforeValidator(_count), Field(ge=low, le=high), WithJsonSchema(shape)]


Ident = Annotated[str, BeforeValidator(_identifier), Field(pattern=IDENT, max_length=40)]
Dtype = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8", "int4"]
