"""The `rigplan` command."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .plan import Option, Plan, Want, plan
from .prices import BUILT_IN, PlanError, read_prices


def main(argv: list[str] | None = None) -> int:
    """Print a plan. Exit code 0: every model has an offer; 1: one has none; 2: bad input."""
    given = _parser().parse_args(argv)
    want = Want(given.tok_s, given.ttft, given.prompt, given.output, given.batch, given.sure)
    try:
        prices = read_prices(given.prices)
        plans = plan(given.models, want, prices, given.budget, given.technique)
    except PlanError as error:
        print(error, file=sys.stderr)
        return 2
    if given.json:
        print(json.dumps([_data(p) for p in plans], indent=2))
    else:
        print("\n".join(line for p in plans for line in _lines(p, prices.currency)))
    return 0 if all(p.cheapest for p in plans) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rigplan", description=__doc__)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--tok-s", type=float, required=True, help="tokens per second and user")
    parser.add_argument("--ttft", type=float, default=10.0, help="seconds to the first token (default 10)")
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--prompt", type=int, default=1024)
    parser.add_argument("--output", type=int, default=256)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--technique", action="append", default=[])
    parser.add_argument("--sure", action="store_true", help="hold the slow end of the span to it")
    parser.add_argument("--prices", type=Path, default=BUILT_IN)
    parser.add_argument("--json", action="store_true")
    return parser


def _lines(found: Plan, currency: str) -> list[str]:
    best = found.cheapest
    if best is not None:
        speed = f"{best.tok_s:.3g} tok/s, first token after {best.ttft_s:.2g} s, bound by {best.regime}"
        return [f"{found.model}: {best.offer}, {best.format}, {best.offer.price:,.0f} {currency}", f"  {speed}"]
    if found.fastest is None:
        return [f"{found.model}: nothing within the budget holds it"]
    near = found.fastest
    return [f"{found.model}: nothing within the budget; fastest is {near.offer}, {near.format}, {near.tok_s:.3g} tok/s"]


def _data(found: Plan) -> dict[str, object]:
    def option(o: Option | None) -> dict[str, object] | None:
        return None if o is None else o._asdict() | {"offer": o.offer._asdict(), "memory": o.memory.to_dict()}

    refused = [r._asdict() | {"offer": r.offer._asdict()} for r in found.refused]
    return {"model": found.model, "cheapest": option(found.cheapest), "fastest": option(found.fastest), "refused": refused}


if __name__ == "__main__":
    sys.exit(main())
