"""The verdict of `costmodel check` for people."""

from __future__ import annotations

from ..sizes import scaled, seconds, short
from ..solve.check import MARGIN
from .table import wrap

VERDICTS = {
    "en": {"impossible": "impossible", "fast": "fast", "normal": "normal", "slow": "slow"},
    "ko": {"impossible": "불가능", "fast": "빠름", "normal": "정상", "slow": "느림"},
}
TEXTS = {
    "en": {
        "head": "{measured} tok/s {what}: {verdict}",
        "per_user": "per user",
        "prompt": "prompt processing",
        "misfit": "does not fit: {lack} GB more than the {usable} GB that the device can use",
        "misfit_so": "undeclared offload, a second card, or a remote machine",
        "need_exact": "it needs {exact} GB/s by exact bytes; this machine has {have} GB/s",
        "compute": "decode is bound by compute here: it needs {need} of {peak}",
        "span": "ceiling {ceiling} tok/s, expected {expected} ({low} - {high})",
        "rule": "rule of thumb {rule}",
        "need": "it needs {rule} GB/s by the rule of thumb (file size), {exact} GB/s by exact bytes; this machine has {have} GB/s",
        "causes": "so one of these is true:",
        "machines": "machines in the library that would allow it (slowest first):",
        "none": "no machine in the library would allow it",
        "ok": "nothing to worry about: this is what the hardware gives",
        "slow": "below the span of comparable measurements",
        "fast": "above the span of comparable measurements, but possible",
        "at_ceiling": "at the ceiling: the stated bandwidth is probably conservative",
        "explain": "what would explain it, predicted again, likeliest first:",
        "differ": "what would account for the distance from the expected speed:",
        "nothing": "no explanation in the library comes near",
        "decode": "decode",
        "prefill": "prefill",
        "predicted": "{what} {expected} tok/s ({low} - {high})",
        "ratio": ", {ratio}x the figure",
        "unfit": "; does not fit",
        "unlikely": " (unusual)",
        "least": " (at least {least})",
        "over": ", {ratio}x the ceiling",
        "skipped": "not evaluated: ",
    },
    "ko": {
        "head": "{what} {measured} tok/s: {verdict}",
        "per_user": "사용자당",
        "prompt": "프롬프트 처리",
        "misfit": "들어가지 않음: 장치가 쓸 수 있는 {usable} GB보다 {lack} GB 많음",
        "misfit_so": "밝히지 않은 offloading, 두 번째 카드, 또는 원격 기기",
        "need_exact": "정확한 바이트로 {exact} GB/s가 필요한데 이 기기는 {have} GB/s",
        "compute": "여기서 decode는 연산에 막힌다: {peak} 가운데 {need} 필요",
        "span": "천장 {ceiling} tok/s, 예상 {expected} ({low} - {high})",
        "rule": "암산 {rule}",
        "need": "암산(파일 크기)으로 {rule} GB/s, 정확한 바이트로 {exact} GB/s가 필요한데 이 기기는 {have} GB/s",
        "causes": "그렇다면 다음 중 하나다:",
        "machines": "이 속도가 가능한 라이브러리의 기기 (느린 순):",
        "none": "라이브러리에 이 속도가 가능한 기기가 없다",
        "ok": "걱정할 것 없다: 이 하드웨어의 정상값이다",
        "slow": "비슷한 측정값들의 범위 아래",
        "fast": "비슷한 측정값들의 범위 위지만 가능한 값",
        "at_ceiling": "천장과 같음: 적힌 대역폭이 실제보다 낮을 가능성이 큼",
        "explain": "설명 후보 (다시 예측, 가능성 높은 순):",
        "differ": "예상 속도와의 차이를 설명할 수 있는 것:",
        "nothing": "라이브러리에 가까운 설명이 없다",
        "decode": "decode",
        "prefill": "prefill",
        "predicted": "{what} {expected} tok/s ({low} - {high})",
        "ratio": ", 측정값의 {ratio}배",
        "unfit": "; 들어가지 않음",
        "unlikely": " (드묾)",
        "least": " (최소 {least})",
        "over": ", 천장의 {ratio}배",
        "skipped": "평가하지 못함: ",
    },
}
SHOWN = 5
"""Explanations in the text; JSON has all."""
CAUSES_KO = {
    "another device does the work (a GPU, not this machine)": "실제로는 다른 장치(GPU)가 일하고 있다",
    "a smaller model or format is running": "생각보다 작은 모델이나 포맷을 돌리고 있다",
    "it runs remotely, not here": "로컬이 아니라 원격에서 실행되고 있다",
}


def check_text(c, lang: str = "en") -> str:
    """The verdict as text."""
    t = TEXTS[lang]
    lines = []
    if c.lacking_bytes:
        misfit = t["misfit"].format(lack=short(c.lacking_bytes / 1e9), usable=short(c.usable_bytes / 1e9))
        lines += wrap(misfit + (": " + t["misfit_so"] if c.verdict == "impossible" else ""), 80)
    for part, what in ((c.decode, "per_user"), (c.prefill, "prompt")):
        if part is not None:
            lines += _figure(c, part, what, t, lang)
    if c.verdict == "impossible":
        lines += [t["causes"], *("- " + (CAUSES_KO.get(x, x) if lang == "ko" else x) for x in c.causes)]
    else:
        lines.append(t["at_ceiling"] if any(p and p["at_ceiling"] for p in (c.decode, c.prefill)) else t[_CLOSING[c.verdict]])
    lines += _explanations(c, t, lang)
    if c.decode is not None and c.decode["verdict"] == "impossible":
        lines.append(t["machines"] if c.hardware else t["none"])
        lines += [f"- {h['name']} ({h['bandwidth'] / 1e9:,.0f} GB/s)" for h in c.hardware[:8]]
        if len(c.hardware) > 8:
            lines.append(f"  … {len(c.hardware) - 8}")
    return "\n".join(lines)


_CLOSING = {"normal": "ok", "slow": "slow", "fast": "fast"}


def _figure(c, part: dict, what: str, t: dict, lang: str) -> list[str]:
    """One measured figure: its verdict, the prediction, and what a decode figure needs."""
    over = t["over"].format(ratio=short(part["measured"] / part["ceiling"])) if part["measured"] > part["ceiling"] * MARGIN else ""
    lines = [t["head"].format(measured=short(part["measured"]), what=t[what], verdict=VERDICTS[lang][part["verdict"]]) + over]
    span = t["span"].format(**{k: short(part[k]) for k in ("ceiling", "expected", "low", "high")})
    if what != "per_user":
        return [*lines, span]
    lines.append(span + ", " + t["rule"].format(rule=short(c.rule_of_thumb)))
    need = t["need" if c.reads_all else "need_exact"]
    lines.append(need.format(rule=short(c.needed_by_rule / 1e9), exact=short(c.needed_exact / 1e9), have=short(c.bandwidth / 1e9)))
    if c.regime == "compute":
        lines.append(t["compute"].format(need=scaled(c.needed_flops, "FLOP/s"), peak=scaled(c.peak, "FLOP/s")))
    return lines


def _explanations(c, t: dict, lang: str) -> list[str]:
    """The likeliest explanations: title and parameter, its prediction, what to look at."""
    if not c.explanations:
        return [t["nothing"]] if c.verdict != "normal" and c.explained else []
    lines = [t["differ" if c.verdict == "normal" else "explain"]]
    for number, e in enumerate(c.explanations[: 3 if c.verdict == "normal" else SHOWN], 1):
        title = e.title[lang] + _parameter(e.parameter, lang) + ("" if e.plausible else t["unlikely"])
        parts = [_predicted(e, name, t) for name in ("decode", "prefill") if getattr(c, name) is not None]
        texts = [title, "; ".join(parts) + (t["unfit"] if e.fits is False else ""), e.look[lang]]
        wrapped = [line for text in texts if text for line in wrap(text, 76)]
        lines += [f"{number}. {wrapped[0]}", *(f"   {line}" for line in wrapped[1:])]
    if c.skipped:
        lines += wrap(t["skipped"] + "; ".join(f"{s['name']} ({s['reason']})" for s in c.skipped), 80)
    return lines


def _predicted(e, name: str, t: dict) -> str:
    figure = getattr(e, name)
    shown = {k: short(figure[k]) for k in ("expected", "low", "high")}
    return t["predicted"].format(what=t[name], **shown) + t["ratio"].format(ratio=short(figure["ratio"]))


def _parameter(parameter: dict | None, lang: str) -> str:
    """`: users 4`, with the value as it is meant."""
    if parameter is None:
        return ""
    value, label = parameter["value"], parameter["label"][lang]
    if isinstance(value, str):
        return f": {label} {value}"
    text, least = _shown(value, parameter["shown"]), parameter["least"]
    bound = "" if least is None else TEXTS[lang]["least"].format(least=_shown(least, parameter["shown"]))
    return f": {label} {text}{bound}"


def _shown(value: float | int, how: str) -> str:
    """A value as it is meant: a share, a multiple, seconds or a count."""
    if how == "percent":
        return f"{short(100 * value)} %"
    if how in ("times", "seconds"):
        return f"{short(value)}x" if how == "times" else seconds(value)
    return f"{value:,}" if isinstance(value, int) else short(value)
