"""A prediction for people: the answer first, then each phase, memory and what was assumed. 80 columns."""

from __future__ import annotations

from ..sizes import both_bytes, pad, scaled, seconds, short
from .table import wrap

LABELS: dict[str, dict] = {
    "en": {
        "on": "on",
        "engine": "engine",
        "techniques": "techniques",
        "workload": "prompt {prompt:,}, output {output:,}, context {context:,}, batch {batch:g}, devices {devices}",
        "floor": "floor",
        "expected": "expected",
        "span": "80 % span",
        "tps": "tokens/s per user",
        "tpot": "TPOT (ITL)",
        "ttft": "TTFT",
        "e2e": "end to end",
        "user": "{tps} tok/s per user, TTFT included",
        "system": "tokens/s, all users",
        "set": "set",
        "partial": " (reads a part)",
        "rule": "rule of thumb {rule}: bandwidth / file",
        "phase": "phase",
        "flops": "FLOPs",
        "bytes": "bytes",
        "intensity": "FLOP/byte",
        "ridge": "ridge",
        "bound": "bound by",
        "memory": "memory",
        "weights": "weights",
        "kv": "KV cache",
        "state": "state",
        "workspace": "workspace",
        "draft": "draft model",
        "total": "total",
        "capacity": "usable",
        "fits": {True: "fits", False: "DOES NOT FIT", None: "fits: unknown (capacity not stated)"},
        "too_much": "DOES NOT FIT: it needs {total}, {lack} too much.\nThe speeds below are as if it did.",
        "limits": "longest context {context}, largest batch {batch}",
        "made_for": "{made} (by memory {context})",
        "assumptions": "assumptions",
        "not_modelled": "not modelled",
        "compute": "compute",
        "link": "link",
        "none": "no limit",
        "operator": "operator",
        "time": "expected",
        "share": "share",
        "launches": "(launches and host)",
        "other_bound": "* at what the engine reaches; full rates alone would say another",
    },
    "ko": {
        "on": "/",
        "engine": "엔진",
        "techniques": "기법",
        "workload": "프롬프트 {prompt:,}, 출력 {output:,}, 컨텍스트 {context:,}, 배치 {batch:g}, 장치 {devices}",
        "floor": "하한",
        "expected": "예상",
        "span": "80 % 범위",
        "tps": "사용자당 tok/s",
        "tpot": "TPOT (ITL)",
        "ttft": "TTFT",
        "e2e": "전체 시간",
        "user": "사용자당 {tps} tok/s (TTFT 포함)",
        "system": "전체 tok/s",
        "set": "변경",
        "partial": " (일부만 읽음)",
        "rule": "암산 {rule}: 대역폭 / 파일 크기",
        "phase": "단계",
        "flops": "FLOPs",
        "bytes": "바이트",
        "intensity": "FLOP/byte",
        "ridge": "능선점",
        "bound": "병목",
        "memory": "메모리",
        "weights": "가중치",
        "kv": "KV 캐시",
        "state": "상태",
        "workspace": "작업 공간",
        "draft": "초안 모델",
        "total": "합계",
        "capacity": "사용 가능",
        "fits": {True: "들어감", False: "들어가지 않음", None: "용량을 몰라 알 수 없음"},
        "too_much": "들어가지 않음: {total} 필요, {lack} 초과.\n아래 속도는 들어간다고 가정한 값.",
        "limits": "최대 컨텍스트 {context}, 최대 배치 {batch}",
        "made_for": "{made} (메모리로는 {context})",
        "assumptions": "가정",
        "not_modelled": "모델링하지 않음",
        "compute": "연산",
        "link": "링크",
        "none": "제한 없음",
        "operator": "연산자",
        "time": "예상",
        "share": "비중",
        "launches": "(커널 실행과 호스트)",
        "other_bound": "* 엔진이 내는 속도 기준. 최대 속도만 보면 다른 쪽이 한계",
    },
}


def predict_text(p, lang: str = "en", columns: int = 80, operators: bool = False) -> str:
    """The prediction as terminal text."""
    t = LABELS[lang]
    meta = p.runnable.meta
    titles = {k: v[lang] for k, v in meta["titles"].items()}
    lines = [f"{titles['model']} {t['on']} {titles['hardware']}"]
    lines.append(t["workload"].format(prompt=p.prompt, output=p.output, context=p.context, batch=p.plan[0], devices=meta["devices"]))
    lines.append(f"{t['engine']}: {titles['engine']}")
    for key, items in (("techniques", meta["techniques"]), ("set", meta["sets"])):
        if items:
            lines += wrap(f"{t[key]}: {', '.join(items)}", columns)
    if p.memory.fits is False:
        lines += [
            "",
            t["too_much"].format(total=both_bytes(p.memory.total_bytes), lack=both_bytes(p.memory.total_bytes - p.memory.usable_bytes)),
        ]
    lines += ["", *_speed(p, t), "", *_phases(p, t), "", *_memory(p, t)]
    if operators:
        for phase in ("prefill", "decode"):
            lines += ["", phase, *_operators(p, phase, t, columns)]
    for key in ("assumptions", "not_modelled"):
        items = getattr(p, key)
        if items:
            lines += ["", t[key] + ":", *_bullets(items, columns)]
    return "\n".join(line.rstrip() for line in lines)


def _speed(p, t) -> list[str]:
    tps, tpot, ttft = p.tps, p.tpot_s, p.ttft_s
    rows = [
        ("", t["floor"], t["expected"], t["span"]),
        (t["tps"], short(tps.ceiling), short(tps.expected), f"{short(tps.low)} - {short(tps.high)}"),
        (t["tpot"], seconds(tpot.floor), seconds(tpot.expected), f"{seconds(tpot.low)} - {seconds(tpot.high)}"),
        (t["ttft"], seconds(ttft.floor), seconds(ttft.expected), f"{seconds(ttft.low)} - {seconds(ttft.high)}"),
        (t["e2e"], "", seconds(p.e2e_s.expected), t["user"].format(tps=short(p.user_tps))),
    ]
    if p.plan[0] > 1:
        rows.insert(2, (t["system"], "", short(p.system_tps), ""))
    lines = [pad(a, 20) + pad(b, 11, True) + pad(c, 12, True) + "   " + d for a, b, c, d in rows]
    part = "" if p.runnable.meta["reads_all"] else t["partial"]
    lines.append(pad("", 20) + t["rule"].format(rule=short(tps.rule_of_thumb)) + part)
    return lines


def _phases(p, t) -> list[str]:
    bounds = {"compute": t["compute"], "memory": t["memory"], "link": t["link"]}
    lines = [
        pad(t["phase"], 10)
        + "".join(pad(t[k], w, True) for k, w in (("flops", 13), ("bytes", 11), ("intensity", 12), ("ridge", 9)))
        + "   "
        + t["bound"]
    ]
    for name in ("prefill", "decode"):
        r = getattr(p, name)
        cells = ((scaled(r.flops, "FLOP"), 13), (scaled(r.bytes, "B"), 11), (short(r.intensity), 12), (short(r.ridge), 9))
        lines.append(pad(name, 10) + "".join(pad(c, w, True) for c, w in cells) + "   " + bounds[r.regime])
    return lines


def _memory(p, t) -> list[str]:
    m = p.memory
    lines = []
    for key, value in (
        ("weights", m.weights_bytes),
        ("kv", m.kv_bytes),
        ("state", m.state_bytes),
        ("workspace", m.workspace_bytes),
        ("draft", m.draft_bytes),
    ):
        if value:
            lines.append(pad(f"{t['memory']}: {t[key]}", 24) + both_bytes(value))
    lines.append(pad(f"{t['memory']}: {t['total']}", 24) + both_bytes(m.total_bytes))
    if m.usable_bytes is not None:
        lines.append(pad(f"{t['memory']}: {t['capacity']}", 24) + both_bytes(m.usable_bytes))
    for tier, part in m.tiers.items():
        sizes = {what: part[f"{what}_bytes"] for what in ("weights", "kv", "state", "workspace")}
        held = ", ".join(t[what] for what in ("weights", "kv", "state") if sizes[what])
        lines.append(pad(f"{tier}: {held} ", 24) + both_bytes(sum(sizes.values())))
    shown = {
        k: t["none"] if v is None and m.usable_bytes is not None else "?" if v is None else f"{v:,}"
        for k, v in (("context", m.max_context), ("batch", m.max_batch))
    }
    made = p.runnable.meta["context"]
    if made and m.max_context is not None and m.max_context > made:
        shown["context"] = t["made_for"].format(context=shown["context"], made=f"{made:,}")
    lines.append(f"{t['fits'][m.fits]}; {t['limits'].format(**shown)}")
    return lines


def _operators(p, phase: str, t, columns: int) -> list[str]:
    from .table import text_table

    rows = [r for r in p.operators[phase] if r.expected_s]
    fixed = p.overheads[phase]
    total = sum(r.expected_s for r in rows) + fixed or 1
    cells = [
        [
            f"{r.block}.{r.name}" + ("" if r.unit == "device" else " (host)"),
            f"x{r.repeat}",
            scaled(r.flops),
            scaled(r.bytes, "B"),
            short(r.intensity),
            t[r.regime] if r.expected_by == r.regime else t[r.expected_by] + "*",
            seconds(r.expected_s),
            f"{r.expected_s / total:.1%}",
        ]
        for r in sorted(rows, key=lambda r: -r.expected_s)
    ]
    if fixed:
        cells.append([t["launches"], "", "", "", "", "", seconds(fixed), f"{fixed / total:.1%}"])
    headers = [t["operator"], "", t["flops"], t["bytes"], t["intensity"], t["bound"], t["time"], t["share"]]
    lines = text_table(headers, cells, columns, (1, 2, 3, 4, 6, 7)).splitlines()
    return [*lines, *wrap(t["other_bound"], columns)] if any(r.expected_by != r.regime for r in rows) else lines


def _bullets(items: list[str], columns: int) -> list[str]:
    lines = []
    for item in items:
        first, *rest = wrap(item, columns - 2)
        lines += [f"- {first}", *(f"  {line}" for line in rest)]
    return lines


def predict_rows(p, fit=None) -> tuple[list[str], list[list[str]]]:
    """Figures as (name, value) rows, for markdown and CSV: every leaf of the JSON form."""
    from .fit import fit_data
    from .render import _flat

    more = {} if fit is None else fit_data(fit)
    flat = _flat({k: v for k, v in (p.to_dict() | more).items() if k not in ("not_modelled", "assumptions", "schema")})
    return ["figure", "value"], [[k, str(v)] for k, v in flat.items()]


def predict_render(p, fmt: str, lang: str, operators: bool = False, fit=None) -> str:
    """The prediction in a format, with the placement that was found for it where one was asked for."""
    if fmt == "text":
        from .fit import fit_text

        text = predict_text(p, lang, operators=operators)
        return text if fit is None else f"{text}\n\n{fit_text(fit, lang)}"
    if fmt == "json":
        import json

        data = p.to_dict()
        if fit is not None:
            from .fit import fit_data

            data |= fit_data(fit)
        if operators:
            from ..solve.export import clean

            data["operators"] = clean({k: [r.to_dict() for r in v] for k, v in p.operators.items()})
        return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    headers, rows = predict_rows(p, fit)
    if fmt == "csv":
        import csv
        import io

        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([headers, *rows])
        return out.getvalue().rstrip("\n")
    lines = [f"| {headers[0]} | {headers[1]} |", "|---|---:|", *(f"| {a} | {b} |" for a, b in rows)]
    return "\n".join(lines)
