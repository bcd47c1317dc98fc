"""The verdict of `costmodel check` for people."""

from __future__ import annotations

from ..sizes import scaled, short

VERDICTS = {
    "en": {"impossible": "impossible", "fast": "fast", "normal": "normal", "slow": "slow"},
    "ko": {"impossible": "불가능", "fast": "빠름", "normal": "정상", "slow": "느림"},
}
TEXTS = {
    "en": {
        "head": "{measured} tok/s per user: {verdict}",
        "need_exact": "it needs {exact} GB/s by exact bytes; this machine has {have} GB/s",
        "compute": "decode is bound by compute here: it needs {need} of {peak}",
        "lack": "it does not fit: {lack} GB more than the device can hold, so part of it must be elsewhere",
        "span": "ceiling {ceiling} tok/s, expected {expected} ({low} - {high}), rule of thumb {rule}",
        "need": "it needs {rule} GB/s by the rule of thumb (file size), {exact} GB/s by exact bytes; this machine has {have} GB/s",
        "causes": "so one of these is true:",
        "machines": "machines in the library that would allow it (slowest first):",
        "none": "no machine in the library would allow it",
        "ok": "nothing to worry about: this is what the hardware gives",
        "slow": "below the span of comparable measurements: look for layers off the device, one memory channel, a cache in host RAM",
        "fast": "above the span of comparable measurements, but possible",
    },
    "ko": {
        "head": "사용자당 {measured} tok/s: {verdict}",
        "need_exact": "정확한 바이트로 {exact} GB/s가 필요한데 이 기기는 {have} GB/s",
        "compute": "여기서 decode는 연산에 막힌다: {peak} 가운데 {need} 필요",
        "lack": "들어가지 않음: 장치가 담을 수 있는 것보다 {lack} GB 많으니 일부는 다른 곳에 있다",
        "span": "천장 {ceiling} tok/s, 예상 {expected} ({low} - {high}), 암산 {rule}",
        "need": "암산(파일 크기)으로 {rule} GB/s, 정확한 바이트로 {exact} GB/s가 필요한데 이 기기는 {have} GB/s",
        "causes": "그렇다면 다음 중 하나다:",
        "machines": "이 속도가 가능한 라이브러리의 기기 (느린 순):",
        "none": "라이브러리에 이 속도가 가능한 기기가 없다",
        "ok": "걱정할 것 없다: 이 하드웨어의 정상값이다",
        "slow": "비슷한 측정값들의 범위 아래: 장치에 올라가지 않은 층, 메모리 채널 하나, 호스트 RAM의 캐시를 의심할 것",
        "fast": "비슷한 측정값들의 범위 위지만 가능한 값",
    },
}
CAUSES_KO = {
    "another device does the work (a GPU, not this machine)": "실제로는 다른 장치(GPU)가 일하고 있다",
    "a smaller model or format is running": "생각보다 작은 모델이나 포맷을 돌리고 있다",
    "it runs remotely, not here": "로컬이 아니라 원격에서 실행되고 있다",
}


def check_text(c, lang: str = "en") -> str:
    """The verdict as text."""
    t = TEXTS[lang]
    lines = [t["head"].format(measured=short(c.measured), verdict=VERDICTS[lang][c.verdict])]
    lines.append(
        t["span"].format(
            ceiling=short(c.ceiling), expected=short(c.expected), low=short(c.low), high=short(c.high), rule=short(c.rule_of_thumb)
        )
    )
    need = t["need" if c.reads_all else "need_exact"]
    lines.append(need.format(rule=short(c.needed_by_rule / 1e9), exact=short(c.needed_exact / 1e9), have=short(c.bandwidth / 1e9)))
    if c.regime == "compute":
        lines.append(t["compute"].format(need=scaled(c.needed_flops, "FLOP/s"), peak=scaled(c.peak, "FLOP/s")))
    if c.lacking_bytes:
        lines.append(t["lack"].format(lack=short(c.lacking_bytes / 1e9)))
    if c.verdict == "impossible":
        lines += [t["causes"], *("- " + (CAUSES_KO.get(x, x) if lang == "ko" else x) for x in c.causes)]
        lines.append(t["machines"] if c.hardware else t["none"])
        lines += [f"- {h['name']} ({h['bandwidth'] / 1e9:,.0f} GB/s)" for h in c.hardware[:8]]
        if len(c.hardware) > 8:
            lines.append(f"  … {len(c.hardware) - 8}")
    else:
        lines.append({"normal": t["ok"], "slow": t["slow"], "fast": t["fast"]}[c.verdict])
    return "\n".join(lines)
