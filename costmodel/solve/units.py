"""Units of figures, for type checkers and JSON Schemas: each is a plain number. Not imported by a prediction."""

from typing import Annotated, NamedTuple


class Unit(NamedTuple):
    """What a number is in words, its least and its greatest value."""

    words: str
    least: float | None = 0
    most: float | None = None


Bytes = Annotated[float, Unit("in bytes")]
ByteRate = Annotated[float, Unit("in bytes/s")]
Flops = Annotated[float, Unit("in FLOPs")]
FlopRate = Annotated[float, Unit("in FLOP/s")]
Intensity = Annotated[float, Unit("in FLOP/byte")]
Seconds = Annotated[float, Unit("in seconds")]
Speed = Annotated[float, Unit("in tokens/s")]
Tokens = Annotated[int, Unit("in tokens")]
TokensOut = Annotated[float, Unit("in tokens")]
Sequences = Annotated[int, Unit("in sequences")]
Slots = Annotated[float, Unit("in sequences")]
"""A technique may give a batch that is no whole number, as an average."""
Count = Annotated[int, Unit("a count")]
Params = Annotated[int, Unit("in parameters")]
Bits = Annotated[float, Unit("in bits")]
Ratio = Annotated[float, Unit("a ratio")]
Share = Annotated[float, Unit("a share", 0, 1)]
SignedSeconds = Annotated[float, Unit("in seconds", None)]
Error = Annotated[float, Unit("predicted / measured - 1", None)]
