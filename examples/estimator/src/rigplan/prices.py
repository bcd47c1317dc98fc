"""Prices: a YAML file of machines by their names in costmodel, and the number formats to try."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

import costmodel

BUILT_IN = Path(__file__).parent / "prices.yaml"


class PlanError(Exception):
    """Bad input: one line for each thing that is wrong."""


class Offer(NamedTuple):
    """A machine with so many devices, for a price."""

    machine: str
    devices: int
    price: float

    def __str__(self) -> str:
        return self.machine if self.devices == 1 else f"{self.devices} x {self.machine}"


class Prices(NamedTuple):
    """What can be bought."""

    currency: str
    offers: tuple[Offer, ...]
    formats: tuple[str, ...]


def read_prices(path: Path = BUILT_IN) -> Prices:
    """The prices of a file; every machine and format in it must be known to costmodel. Raises PlanError."""
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
        offers = [
            Offer(name, devices, entry["price"] * devices)
            for name, entry in data["machines"].items()
            for devices in entry.get("devices", [1])
        ]
        prices = Prices(data["currency"], tuple(offers), tuple(data["formats"]))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise PlanError(f"{path}: not a list of prices: {error}") from error
    wrong = problems_of(*(("hardware", offer.machine) for offer in offers), *(("format", f) for f in prices.formats))
    if wrong:
        raise PlanError("\n".join(f"{path}: {line}" for line in wrong))
    return prices


def problems_of(*documents: tuple[str, str]) -> list[str]:
    """What costmodel says of documents (kind, name) that it cannot load, each once."""
    library = costmodel.Library()
    lines: list[str] = []
    for kind, name in documents:
        try:
            library.load(kind, name)
        except costmodel.SpecError as error:
            lines += [p.message + (f"; {p.help}" if p.help else "") for p in error.problems]
    return list(dict.fromkeys(lines))
