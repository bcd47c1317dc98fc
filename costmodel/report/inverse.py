"""The answer of `costmodel solve` for people: the value, how it was found, what it gives, and what of the library would do."""

from __future__ import annotations

from ..sizes import both_bytes, scaled, seconds, short
from .table import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..solve.invert.answers import Asked, Solution
    from ..solve.shapes.inverse import Aim
    from ..solve.shapes.unfold import Lang, Titles

TEXTS = {
    "en": {
        "now": "{ratio}x the {now} of now",
        "smallest": "the smallest for {target}",
        "largest": "the largest for {target}",
        "exact": "exact",
        "degree": "exact: the root of a polynomial of degree {n}",
        "rounded": "exact: {at}, to a whole number",
        "bracketed": "bracketed to 1e-13 of itself: it is no quotient of polynomials here",
        "compiled": "bracketed to 1e-6 of itself, each value compiled",
        "whole": "whole numbers, by halving between neighbours of {points} tried",
        "tried": "each compiled: {values}",
        "beside": "also met at {others}",
        "inside": "other ends of where it is met: {others}",
        "check": "predicted again there: {figures}",
        "by_formulas": "there by the formulas: {figures}",
        "memory": "memory {used} of {usable}",
        "memory_only": "memory {used}",
        "unfit": "it does not fit: memory {used}, usable {usable}",
        "long": "that is beyond the model's context of {n}",
        "outside": "the engine's document allows only {low} to {high}",
        "hardware": "machines of the library that do it, predicted, smallest first:",
        "format": "formats that do it, predicted:",
        "link": "links of the library that do it, predicted:",
        "no_hardware": "no machine tried from the library does it",
        "no_format": "no published format does it",
        "no_link": "no link of the library does it",
        "any": "{target} is met at every {title} from {low} to {high}",
        "any_flat": "{target} is met, and does not depend on {title}",
        "none": "no {title} gives {target}",
        "none_flat": "it does not depend on {title}: {figure} throughout",
        "none_limit": "nearest: {figure}, at {value} (looked for from {low} to {high})",
        "none_refused": "every value is refused: {note}",
        "remains": "what that time is made of: {parts}",
        "memory_part": "memory",
        "compute_part": "compute",
        "link_part": "links",
        "fixed_part": "fixed times",
        "left": "{size} left",
        "lacking": "{size} lacking",
    },
    "ko": {
        "now": "지금({now})의 {ratio}배",
        "smallest": "{target}의 최솟값",
        "largest": "{target}의 최댓값",
        "exact": "정확",
        "degree": "정확: {n}차 다항식의 근",
        "rounded": "정확: {at}, 정수로 맞춤",
        "bracketed": "구간을 1e-13까지 좁힘: 여기서는 다항식의 몫이 아님",
        "compiled": "구간을 1e-6까지 좁힘 (값마다 다시 컴파일)",
        "whole": "정수, 시도한 값 {points}개 사이에서 이분법으로",
        "tried": "하나씩 컴파일: {values}",
        "beside": "다음에서도 만족: {others}",
        "inside": "만족하는 구간의 다른 끝: {others}",
        "check": "그 값에서 다시 예측: {figures}",
        "by_formulas": "그 값에서 식으로: {figures}",
        "memory": "메모리 {usable} 가운데 {used}",
        "memory_only": "메모리 {used}",
        "unfit": "들어가지 않음: 메모리 {used}, 사용 가능 {usable}",
        "long": "모델의 컨텍스트 {n}보다 길다",
        "outside": "엔진 문서의 허용 범위는 {low} ~ {high}",
        "hardware": "가능한 라이브러리의 기기 (예측, 작은 순):",
        "format": "가능한 포맷 (예측):",
        "link": "가능한 라이브러리의 링크 (예측):",
        "no_hardware": "시도한 라이브러리의 기기 가운데 없음",
        "no_format": "공개된 포맷 가운데 없음",
        "no_link": "라이브러리의 링크 가운데 없음",
        "any": "{title} {low} ~ {high} 어디서나 {target} 만족",
        "any_flat": "{target} 만족, {title}와 무관",
        "none": "{target}인 {title} 없음",
        "none_flat": "{title}와 무관: 어디서나 {figure}",
        "none_limit": "가장 가까운 값: {value}에서 {figure} (찾은 범위 {low} ~ {high})",
        "none_refused": "모든 값이 거부됨: {note}",
        "remains": "그때의 시간 구성: {parts}",
        "memory_part": "메모리",
        "compute_part": "연산",
        "link_part": "링크",
        "fixed_part": "고정 시간",
        "left": "{size} 남음",
        "lacking": "{size} 모자람",
    },
}
COMPUTE_BOUND = "decode.compute_s / decode.memory_s"
BARE: dict[str, Titles] = {
    "memory left": {"en": "a fit in memory", "ko": "메모리에 들어감"},
    COMPUTE_BOUND: {"en": "compute-bound decode", "ko": "연산 병목 decode"},
}


def amount(value, unit: str, digits: int = 4) -> str:
    """A value in the unit of an unknown or a figure."""
    if value is None or isinstance(value, str):
        return value or "-"
    if unit in ("B/s", "FLOP/s", "FLOP"):
        return scaled(value, unit, digits)
    if unit == "B":
        return ("-" if value < 0 else "") + both_bytes(abs(value))
    if unit == "s":
        return ("-" if value < 0 else "") + seconds(abs(value))
    if unit == "bit":
        return f"{short(value, digits)} bits"
    if unit in ("tokens", "sequences", "layers", "devices"):
        return f"{value:,.0f} {unit if value != 1 else unit[:-1]}"
    if isinstance(value, int) and not unit:
        return f"{value:,}"
    return f"{short(value, digits)} {unit}".strip() if unit != "share" else short(value, digits)


def case_names(asked: Asked, lang: Lang) -> dict[str, str]:
    """Titles of the model, the machine and the engine."""
    titles = asked.titles
    return {"model": titles["model"][lang], "hardware": titles["hardware"][lang], "engine": titles["engine"][lang]}


def aim(target: Aim, lang: Lang) -> str:
    """A target as text."""
    if target["figure"] in BARE:
        return BARE[target["figure"]][lang]
    value = f"{target['value']:,.6g} tok/s" if target["unit"] == "tok/s" else amount(target["value"], target["unit"])
    return f"{target['figure']} {'>=' if target['least'] else '<='} {value}"


def reached(figure: float | None, target: Aim, t: dict) -> str:
    """A figure as text: of memory, what is left or lacking."""
    if target["figure"] == "memory left" and figure is not None:
        return t["left" if figure >= 0 else "lacking"].format(size=scaled(abs(figure), "B"))
    return amount(figure, target["unit"])


def solution_text(answer: Solution, lang: Lang = "en") -> str:
    """The answer as lines of text."""
    t, title = TEXTS[lang], answer.title[lang]
    if answer.found == "none":
        return "\n".join(_none(answer, t, title, lang))
    if answer.found == "any":
        low, high = (amount(x, answer.unit) for x in answer.range)
        return t["any_flat" if answer.reason == "flat" else "any"].format(target=aim(answer.target, lang), title=title, low=low, high=high)
    lines = wrap(_head(answer, t, title, lang), 80) + wrap(_how(answer, t), 80)
    relation = _relation(answer)
    if relation:
        lines.append(relation)
    if answer.others and answer.found != "tried":
        lines += wrap(t["inside"].format(others=", ".join(amount(x, answer.unit) for x in answer.others[:6])), 80)
    lines += _check(answer, t)
    if answer.note:
        lines += wrap(f"note: {answer.note}", 80)
    return "\n".join([*lines, *_allowing(answer, t)])


def _head(answer, t: dict, title: str, lang: Lang) -> str:
    value, now = answer.value, answer.now
    head = f"{title} {amount(value, answer.unit)}"
    if isinstance(now, (int, float)) and isinstance(value, (int, float)) and now and value != now:
        head += ", " + t["now"].format(ratio=short(value / now), now=amount(now, answer.unit))
    return head + ": " + t["smallest" if answer.smallest else "largest"].format(target=aim(answer.target, lang))


def _how(answer, t: dict) -> str:
    if answer.found == "tried":
        return t["tried"].format(values=", ".join(f"{x['value']} {'✓' if x['met'] else '-'}" for x in answer.tried))
    if answer.found == "exact":
        if isinstance(answer.value, int):
            return t["rounded"].format(at=f"{answer.crossing:,.2f}")
        return t["exact"] if answer.degree == 1 else t["degree"].format(n=answer.degree)
    if answer.found == "whole":
        return t["whole"].format(points=answer.points)
    return t["compiled" if answer.compiled else "bracketed"]


def _relation(answer) -> str | None:
    """`1 / tps.expected = 4.66 ms + 6.36 GB / bandwidth`."""
    if answer.relation is None or (answer.found != "exact" and answer.crossing is None):
        return None
    name, unit = answer.unknown.rpartition(".")[2], answer.target["unit"]
    made = {"tok/s": "s", "s": "1/s", "B": "1/B"}.get(unit, "") if answer.relation["inverse"] else unit
    parts = [_term(c, p, name, made, answer.unit) for c, p in answer.relation["terms"]]
    left = {"memory left": "what is left", COMPUTE_BOUND: "(compute / memory)"}.get(answer.target["figure"], answer.target["figure"])
    return f"{'1 / ' if answer.relation['inverse'] else ''}{left} = " + " + ".join(parts).replace("+ -", "- ")


def _term(value: float, power: int, name: str, unit: str, of: str) -> str:
    """One term; seconds times bytes per second are bytes."""
    if power == 0:
        return _size(value, unit)
    if power == 1 and unit == "tok/s" and of in ("B/s", "FLOP/s"):
        return f"{name} / {_size(1 / value, of.partition('/')[0])}"
    if unit == of and unit in ("s", "B") and power == 1:
        return f"{short(value)} x {name}"
    over = {("s", "B/s"): "B", ("s", "FLOP/s"): "FLOP"}.get((unit, of)) if power == -1 else None
    text = _size(value, over or (unit if unit in ("s", "B") else ""))
    shown = name if abs(power) == 1 else f"{name}^{abs(power)}"
    return f"{text} {'x' if power > 0 else '/'} {shown}"


def _size(value: float, unit: str) -> str:
    return scaled(value, unit) if unit == "B" else amount(value, unit, 3)


def _check(answer, t: dict) -> list[str]:
    check, name = answer.check, answer.target["figure"]
    parts = [f"{name} {amount(check['figure'], answer.target['unit'])}" if name not in BARE else reached(check["figure"], answer.target, t)]
    parts += [f"tps.{k} {short(check[v], 4)} tok/s" for k, v in (("expected", "tps"), ("ceiling", "tps_ceiling")) if name != f"tps.{k}"]
    parts += [f"TTFT {seconds(check['ttft_s'])}"] if name != "ttft_s.expected" else []
    text = t["check" if check["how"] == "compiled" else "by_formulas"].format(figures=", ".join(parts))
    used, usable = scaled(check["memory_bytes"], "B"), scaled(check["usable_bytes"], "B")
    key = "unfit" if check["fits"] is False else "memory_only" if check["usable_bytes"] is None else "memory"
    lines = [*wrap(text, 80), t[key].format(used=used, usable=usable)]
    if check["beyond_context"]:
        lines.append(t["long"].format(n=f"{check['beyond_context']:,}"))
    return lines


def _allowing(answer, t: dict) -> list[str]:
    if answer.would_kind is None:
        return []
    if not answer.would_do:
        return [t[f"no_{answer.would_kind}"]]
    return [
        t[answer.would_kind],
        *(f"- {w['name']} ({amount(w['value'], answer.unit)}): {reached(w['figure'], answer.target, t)}" for w in answer.would_do),
    ]


def _none(answer, t: dict, title: str, lang: Lang) -> list[str]:
    lines = [t["none"].format(title=title, target=aim(answer.target, lang))]
    low, high = (amount(x, answer.unit) for x in answer.range)
    near = answer.nearest or {"figure": None, "value": None}
    shown = {"figure": reached(near["figure"], answer.target, t), "value": amount(near["value"], answer.unit)}
    lines += wrap(t[f"none_{answer.reason}"].format(title=title, low=low, high=high, note=answer.note, **shown), 80)
    if answer.note and answer.reason != "refused":
        lines += wrap(f"note: {answer.note}", 80)
    if answer.remains:
        parts = ", ".join(f"{t[k + '_part']} {short(100 * v)} %" for k, v in sorted(answer.remains.items(), key=lambda i: -i[1]))
        lines += wrap(t["remains"].format(parts=parts), 80)
    return lines
