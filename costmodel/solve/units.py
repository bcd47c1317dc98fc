"""Units of figures, for type checkers and JSON Schemas: each is a plain number. Not imported by a prediction."""

from typing import Annotated, NamedTuple


class Unit(NamedTuple):
    """What a number counts, its least and its greatest value."""

    name: str
    least: float | None = 0
    most: float | None = None


Bytes = Annotated[float, Unit("bytes")]
ByteRate = Annotated[float, Unit("bytes/s")]
Flops = Annotated[float, Unit("FLOPs")]
FlopRate = Annotated[float, Unit("FLOP/s")]
Intensity = Annotated[float, Unit("FLOP/byte")]
Seconds = Annotated[float, Unit("seconds")]
Speed = Annotated[float, Unit("tokens/s")]
Tokens = Annotated[int, Unit("tokens")]
TokensOut = Annotated[float, Unit("tokens")]
Sequences = Annotated[int, Unit("sequences")]
Slots = Annotated[float, Unit("sequences")]
"""A technique may give a batch that is no whole number, as an average."""
Count = Annotated[int, Unit("a count")]
Params = Annotated[int, Unit("parameters")]
Bits = Annotated[float, Unit("bits")]
Ratio = Annotated[float, Unit("a ratio")]
Share = Annotated[float, Unit("a share", 0, 1)]
Error = Annotated[float, Unit("predicted / measured - 1", None)]
