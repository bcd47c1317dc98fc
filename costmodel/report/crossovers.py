"""Crossings as a table: what outweighs what, from where, and what it means."""

from __future__ import annotations

from typing import Any

from ..sizes import short
from .inverse import amount, case_names
from .table import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..solve.invert.answers import Crossovers
    from ..solve.shapes.unfold import Lang

TEXTS: dict[str, dict[str, Any]] = {
    "en": {
        "head": "{model} on {hardware}, {engine}",
        "work": "prompt {prompt:,}, context {context:,}, batch {batch:,}, devices {devices:,}",
        "matrix-compute": "a weight matrix turns compute bound",
        "decode-compute": "decode turns compute bound",
        "prefill-compute": "prefill turns compute bound",
        "kv-read": "a decode step reads more KV than weights",
        "kv-held": "memory holds more KV than weights",
        "speculation": "speculation pays",
        "speculation-pays": "speculation no longer pays",
        "moe-experts": "a decode step reads {share} of the experts",
        "moe-half": "the MoE has lost half of its edge",
        "moe-total": "the MoE has lost all of its edge",
        "exact": "exact",
        "whole": "bracketed",
        "bracketed": "bracketed",
        "batch": "batch",
        "context": "context",
        "prompt": "prompt",
        "acceptance": "acceptance",
        "from": "from {place} ({how})",
        "above": "above {place} ({how})",
        "none": "at no {by}",
        "any": "at every {by}",
        "meaning": {
            "matrix-compute": "{block}.{row} alone, {type} at {bits} bits: peak x bytes per weight / (2 x bandwidth)",
            "decode-compute": "FLOPs at the peak rate take as long as all bytes of the step at full bandwidth (R14)",
            "prefill-compute": "the same of the prompt's passes",
            "kv-read": "KV cache and weights that one decode step reads",
            "kv-held": "at the context and the output's tokens, in the device's memory",
            "speculation": "above it {technique} is faster than the {plain} tok/s of plain decoding at batch {batch}",
            "speculation-pays": "acceptance {acceptance}: {gain}x at batch {now}, at most {best}x at batch {at}{pays}",
            "moe-experts": "{now} at the present batch; a large batch reads all (threshold of MoESD, arXiv:2505.19645)",
            "moe-half": "TPOT midway between dense models of the same shape: with E = k experts, and with k = E used; {now} lost now",
            "moe-total": "as slow as a dense model with all parameters used by every token; least edge {least}x at batch {at}, {now}x now",
        },
        "why": {
            "limit-compute": "compute takes at most {figure} of the memory's time, at {by} {at}; looked for up to {high}",
            "limit-kv": "KV is at most {figure} of the weights, at {by} {at}; looked for up to {high}",
            "limit-tps": "at most {figure} tok/s, at {by} {at}",
            "no-kv": "it reads no KV cache",
            "no-matrix": "no matrix on the device decodes one token per sequence",
            "refused": "cannot be compiled here: {message}",
            "never": "at most {figure}x of plain decoding, at batch {at}; looked for up to {high}",
            "flat": "it does not depend on {by}",
            "everywhere": "looked for up to {high}",
        },
        "pays": "; it pays at batch {spans}",
        "others": "turns again at {others}",
    },
    "ko": {
        "head": "{hardware}의 {model}, {engine}",
        "work": "프롬프트 {prompt:,}, 컨텍스트 {context:,}, 배치 {batch:,}, 장치 {devices:,}",
        "matrix-compute": "가중치 행렬이 연산 병목으로",
        "decode-compute": "decode가 연산 병목으로",
        "prefill-compute": "prefill이 연산 병목으로",
        "kv-read": "decode가 가중치보다 KV를 더 읽음",
        "kv-held": "메모리에 가중치보다 KV가 더 많음",
        "speculation": "투기적 디코딩이 이득",
        "speculation-pays": "투기적 디코딩이 더는 이득이 아님",
        "moe-experts": "decode가 전문가의 {share}를 읽음",
        "moe-half": "MoE의 이점이 절반 사라짐",
        "moe-total": "MoE의 이점이 모두 사라짐",
        "exact": "정확",
        "whole": "구간",
        "bracketed": "구간",
        "batch": "배치",
        "context": "컨텍스트",
        "prompt": "프롬프트",
        "acceptance": "수락률",
        "from": "{place}부터 ({how})",
        "above": "{place} 위에서 ({how})",
        "none": "어느 {by}에서도 아님",
        "any": "모든 {by}에서",
        "meaning": {
            "matrix-compute": "{block}.{row} 하나, {type}, {bits}비트: 최고 연산 속도 x 가중치당 바이트 / (2 x 대역폭)",
            "decode-compute": "최고 속도의 FLOP 시간이 전체 대역폭의 바이트 시간과 같아지는 곳 (R14)",
            "prefill-compute": "프롬프트의 pass에서 같은 것",
            "kv-read": "decode 한 단계가 읽는 KV 캐시와 가중치",
            "kv-held": "컨텍스트와 출력 토큰까지, 장치 메모리에서",
            "speculation": "이보다 높으면 배치 {batch}에서 {technique}이 보통 디코딩 {plain} tok/s보다 빠름",
            "speculation-pays": "수락률 {acceptance}: 배치 {now}에서 {gain}배, 최대 배치 {at}에서 {best}배{pays}",
            "moe-experts": "지금 배치에서 {now}; 큰 배치는 모두 읽음 (MoESD의 기준, arXiv:2505.19645)",
            "moe-half": "토큰당 시간이 같은 모양의 dense 모델 둘(E = k, k = E)의 한가운데; 지금 {now} 잃음",
            "moe-total": "모든 파라미터를 쓰는 dense 모델만큼 느림; 가장 작은 이점 배치 {at}에서 {least}배, 지금 {now}배",
        },
        "why": {
            "limit-compute": "연산은 메모리 시간의 최대 {figure}, {by} {at}에서; {high}까지 찾음",
            "limit-kv": "KV는 가중치의 최대 {figure}, {by} {at}에서; {high}까지 찾음",
            "limit-tps": "최대 {figure} tok/s, {by} {at}에서",
            "no-kv": "KV 캐시를 읽지 않음",
            "no-matrix": "장치에서 시퀀스당 한 토큰을 디코딩하는 행렬이 없음",
            "refused": "여기서는 컴파일할 수 없음: {message}",
            "never": "최대 보통 디코딩의 {figure}배, 배치 {at}에서; {high}까지 찾음",
            "flat": "{by}와 무관",
            "everywhere": "{high}까지 찾음",
        },
        "pays": "; 이득인 배치 {spans}",
        "others": "다시 바뀌는 곳: {others}",
    },
}


def crossovers_text(found: Crossovers, lang: Lang = "en") -> str:
    """Two lines or three for each crossing: what and where, what it means, or why there is none."""
    t = TEXTS[lang]
    lines = [*wrap(t["head"].format(**case_names(found, lang)), 80), *wrap(t["work"].format(**found.workload), 80)]
    if found.techniques:
        lines += wrap(", ".join(found.techniques), 80)
    for row in found.rows:
        lines += ["", *_row(row, t)]
    return "\n".join(lines)


def _row(row, t: dict) -> list[str]:
    share = f"{100 * row.detail['share']:g} %" if "share" in (row.detail or ()) else ""
    head = t["speculation" if row.reason == "never" else row.name].format(share=share)
    if row.value is not None:
        place = t["above" if row.by == "acceptance" else "from"].format(place=f"{t[row.by]} {_number(row)}", how=_how(row, t))
    else:
        place = t[row.found].format(by=t[row.by])
    lines = wrap(f"{head}: {place}", 80)
    texts = [t["meaning"][row.name].format(**_words(row, t))] if row.reason not in ("no-kv", "no-matrix", "refused") else []
    if row.reason and not (row.name in ("moe-total", "moe-half", "moe-experts") and row.reason == "limit"):
        limit = {"decode-compute": "-compute", "prefill-compute": "-compute", "kv-read": "-kv", "kv-held": "-kv"}.get(row.name, "-tps")
        texts.append(t["why"][row.reason + (limit if row.reason == "limit" else "")].format(**_reason(row, t)))
    if row.others:
        texts.append(t["others"].format(others=", ".join(f"{x:,.0f}" for x in row.others)))
    return [*lines, *(f"  {line}" for text in texts for line in wrap(text, 78))]


def _number(row) -> str:
    if row.by == "acceptance" or row.name == "matrix-compute":
        return short(row.value)
    return f"{row.value:,.0f}"


def _how(row, t: dict) -> str:
    """`exact`, with what was rounded to a whole number."""
    rounded = row.found == "exact" and row.crossing != row.value
    return t[row.found] + (f": {row.crossing:,.1f}" if rounded else "")


def _words(row, t: dict) -> dict:
    """What the meaning of a crossing names."""
    d, near = row.detail or {}, row.nearest or {"value": None, "figure": None}
    words = {**d, "now": row.now}
    if row.name == "matrix-compute":
        words["bits"] = short(d["bits"])
    if row.name == "speculation":
        words |= {"technique": d["technique"].partition(":")[0], "plain": short(d["plain_tps"])}
    if row.name == "speculation-pays":
        spans = ", ".join(f"{a:,}" if a == b else f"{a:,} - {b:,}" if b else f"{a:,} …" for a, b in d["pays"])
        words |= {
            "gain": short(d["gain"]),
            "best": short(d["best_gain"]),
            "at": f"{d['best_batch']:,}",
            "pays": t["pays"].format(spans=spans) if spans else "",
            "acceptance": f"{d['acceptance']:g}",
        }
    shares = {"moe-experts": "now_read", "moe-half": "now_lost"}
    if row.name in shares:
        words["now"] = f"{short(100 * d[shares[row.name]])} %"
    if row.name == "moe-total":
        words |= {"now": short(d["now_edge"]), "least": short(near["figure"], 4), "at": f"{near['value']:,}"}
    return words


def _reason(row, t: dict) -> dict:
    near = row.nearest or {"value": None, "figure": None}
    return {
        "figure": short(near["figure"]),
        "at": f"{near['value'] or 0:,.4g}" if row.unit == "share" else f"{near['value'] or 0:,.0f}",
        "by": t[row.by],
        "high": f"{row.range[1]:,.0f}" if row.range and row.range[1] > 1 else amount(row.range[1], row.unit) if row.range else "",
        "message": (row.detail or {}).get("message", ""),
    }
