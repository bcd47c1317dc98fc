"""How a model can be made to fit, in words and as data."""

from __future__ import annotations

from ..sizes import both_bytes, short
from .table import wrap

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "plain": "placement: all on the device",
        "found": "placement: {techniques}",
        "disk": "DOES NOT FIT in memory, {lack} short. From disk it would run as above: {techniques}",
        "none": "DOES NOT FIT on the device or its host: {lack} short",
        "changes": "on the device alone it would fit with one of:",
        "no_change": "no single change would make it fit on the device alone",
        "change": "{option}: {size}, {tps} tok/s",
    },
    "ko": {
        "plain": "배치: 모두 장치에",
        "found": "배치: {techniques}",
        "disk": "메모리에 들어가지 않음, {lack} 부족. 디스크에서 읽으면 위와 같음: {techniques}",
        "none": "장치와 호스트에 들어가지 않음: {lack} 부족",
        "changes": "다음 중 하나면 장치에만도 들어감:",
        "no_change": "한 가지 변경만으로는 장치에 들어가지 않음",
        "change": "{option}: {size}, {tps} tok/s",
    },
}


def fit_text(fit, lang: str = "en", columns: int = 80) -> str:
    """The placement, the options to paste, and what single changes would do."""
    t = WORDS[lang]
    key = ("found" if fit.techniques else "plain") if fit.fits else ("disk" if fit.techniques else "none")
    techniques = ", ".join(fit.techniques)
    lines = wrap(t[key].format(techniques=techniques, lack=both_bytes(fit.lacking_bytes)), columns)
    if fit.fits:
        lines += [f"{program}: {text}" for program, text in fit.flags.items()]
    if fit.changes or fit.techniques or not fit.fits:
        lines += ["", t["changes"] if fit.changes else t["no_change"]]
    for c in fit.changes:
        lines.append("- " + t["change"].format(option=c["option"], size=both_bytes(c["total_bytes"]), tps=short(c["tps"])))
    return "\n".join(lines)


def fit_data(fit) -> dict:
    """The keys that `--must-fit` adds to a prediction."""
    from ..solve.export import clean

    placement = {"fits": fit.fits, "techniques": fit.techniques, "lacking_bytes": fit.lacking_bytes}
    return clean({"placement": placement, "flags": fit.flags, "changes": fit.changes})
