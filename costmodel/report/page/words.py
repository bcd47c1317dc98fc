"""What the page says, in English and Korean."""

from __future__ import annotations

_BOTH: dict[str, tuple[str, str]] = {
    "tables": ("Table", "표"),
    "what_if": ("What if", "바꿔 보기"),
    "about": ("About this page", "이 페이지에 대하여"),
    "filter": ("Filter rows", "행 거르기"),
    "rows_shown": ("{shown} of {all} rows", "{all}행 중 {shown}행"),
    "sort_hint": ("A heading sorts its column: up, down, as it was.", "제목을 누르면 그 열로 정렬: 오름, 내림, 원래대로."),
    "no_script": (
        "The table below is complete; sliders and charts need JavaScript.",
        "표는 그대로 볼 수 있음. 슬라이더와 그래프에는 JavaScript가 필요함.",
    ),
    "intro": (
        "Every number here is computed in this page by the formulas that costmodel's solver uses, printed as JavaScript. "
        "Untouched, a case shows what costmodel predict prints for it.",
        "이 페이지의 숫자는 모두 costmodel 풀이기의 수식을 JavaScript로 옮긴 것으로 이 자리에서 계산. "
        "슬라이더를 움직이지 않으면 costmodel predict와 같은 값.",
    ),
    "model": ("Model", "모델"),
    "hardware": ("Hardware", "하드웨어"),
    "engine": ("Engine", "엔진"),
    "technique": ("Case", "경우"),
    "workload": ("Workload", "작업"),
    "used": ("Techniques", "기법"),
    "sets": ("Set", "변경"),
    "none": ("none", "없음"),
    "format": ("Number format of weights", "가중치 숫자 형식"),
    "reset": ("Back to the study's point", "연구의 값으로 되돌리기"),
    "more": ("More sliders", "다른 슬라이더"),
    "context": ("Context, tokens", "컨텍스트, 토큰"),
    "batch": ("Batch, sequences", "배치, 시퀀스"),
    "prompt": ("Prompt, tokens", "프롬프트, 토큰"),
    "output": ("Output, tokens", "출력, 토큰"),
    "bw": ("Memory bandwidth of the device, GB/s", "장치 메모리 대역폭, GB/s"),
    "decode_bw": ("Memory bandwidth of the machine that decodes, GB/s", "디코드 장치의 메모리 대역폭, GB/s"),
    "hram": ("Host memory bandwidth, GB/s", "호스트 메모리 대역폭, GB/s"),
    "host": ("Link to the host, GB/s", "호스트 링크, GB/s"),
    "disk": ("Disk, GB/s", "디스크, GB/s"),
    "peer": ("Link between devices, GB/s", "장치 간 링크, GB/s"),
    "pk": ("Peak compute of the device, TFLOP/s", "장치 최대 연산, TFLOP/s"),
    "decode_pk": ("Peak compute of the machine that decodes, TFLOP/s", "디코드 장치의 최대 연산, TFLOP/s"),
    "hpk": ("Peak compute of the host, TFLOP/s", "호스트 최대 연산, TFLOP/s"),
    "decode_hpk": ("Peak compute of the host that decodes, TFLOP/s", "디코드 호스트의 최대 연산, TFLOP/s"),
    "link": ("Link {name}, GB/s", "링크 {name}, GB/s"),
    "pk_hint": ("The {type} rate; rates of other types change with it.", "{type} 기준. 다른 형식의 연산 성능도 같은 비율로 바뀜."),
    "bits": ("Bits per weight", "가중치당 비트"),
    "kv_bits": ("Bits per cached key or value", "KV 캐시 원소당 비트"),
    "kv_hint": ("Scales the bytes of the KV cache, nothing else.", "KV 캐시의 바이트만 비례해서 바뀜."),
    "exact": ("{format}: compiled as it is.", "{format}: 그대로 컴파일한 값."),
    "scaled": (
        "Not a format: the bytes of {format} ({bits} bit) times {factor}. What the engine reaches is still that of {format}.",
        "실제 형식이 아님: {format}({bits}비트)의 바이트에 {factor}배. 엔진이 내는 비율은 {format}의 것.",
    ),
    "one_format": (
        "No other format of this case is in this page: other widths scale its bytes.",
        "이 페이지에는 이 경우의 다른 형식이 없음: 다른 비트 수는 바이트만 비례.",
    ),
    "changed": ("was {value}", "원래 {value}"),
    "point": ("At the study's point", "연구의 값"),
    "now": ("Now", "지금"),
    "figure": ("Figure", "값"),
    "floor": ("Floor", "하한"),
    "expected": ("Expected", "예상"),
    "span": ("80 % span", "80 % 범위"),
    "speed": ("Speed", "속도"),
    "tps": ("Tokens/s per user", "사용자당 토큰/s"),
    "system_tps": ("Tokens/s, all users", "전체 토큰/s"),
    "rule": ("Rule of thumb (bandwidth / file)", "암산 (대역폭 / 파일)"),
    "tpot": ("TPOT (ITL)", "TPOT (ITL)"),
    "ttft": ("TTFT", "TTFT (첫 토큰)"),
    "tokens_out": ("Tokens per decode step", "디코드 스텝당 토큰"),
    "memory": ("Device memory", "장치 메모리"),
    "memory_held": ("Memory", "메모리"),
    "host_memory": ("On the host", "호스트에 있는 것"),
    "disk_memory": ("On the disk", "디스크에 있는 것"),
    "usable_of": ("{what}: usable", "{what}: 사용 가능"),
    "weights": ("Weights", "가중치"),
    "kv": ("KV cache", "KV 캐시"),
    "state": ("State", "상태"),
    "workspace": ("Workspace", "작업 공간"),
    "draft": ("Draft model", "초안 모델"),
    "activations": ("Activations", "활성값"),
    "total": ("Total", "합계"),
    "usable": ("Usable", "사용 가능"),
    "fits": ("fits", "들어감"),
    "misfit": ("does not fit", "들어가지 않음"),
    "lower_misfit": ("a lower tier is too small", "아래 계층이 모자람"),
    "fits_unknown": ("capacity not stated", "용량을 알 수 없음"),
    "each_of": ("on each of {devices} devices", "장치 {devices}개 각각"),
    "beyond": (
        "{used} tokens with the output: more than the model's context of {trained}.",
        "출력까지 {used}토큰: 모델의 컨텍스트 {trained}보다 김.",
    ),
    "of_usable": ("of {usable} usable", "사용 가능 {usable} 중"),
    "terms": ("What the steps are made of", "스텝을 이루는 항"),
    "prefill": ("Prefill", "Prefill"),
    "decode": ("Decode step", "Decode 스텝"),
    "flops": ("FLOPs", "FLOPs"),
    "bytes_of": ("Bytes: {what}", "바이트: {what}"),
    "bytes": ("Bytes, all", "바이트 합계"),
    "link_bytes": ("Bytes over links", "링크를 지나는 바이트"),
    "intensity": ("Arithmetic intensity, FLOP/byte", "산술 강도, FLOP/byte"),
    "ridge": ("Ridge point, FLOP/byte", "능선점, FLOP/byte"),
    "attainable": ("Attainable by the roofline", "루프라인이 허용하는 성능"),
    "compute_s": ("FLOPs at peak rate", "최대 연산 성능으로 걸리는 시간"),
    "memory_s": ("Bytes at full bandwidth", "전체 대역폭으로 걸리는 시간"),
    "link_s": ("Links and streams at full rate", "링크와 스트림 시간"),
    "floor_s": ("Floor: the longest, of what must be done", "하한: 꼭 해야 할 일 중 가장 긴 것"),
    "expected_s": ("Expected, at what the engine reaches", "예상: 엔진이 내는 속도로"),
    "regime": ("Bound by", "병목"),
    "regime.memory": ("memory", "메모리"),
    "regime.compute": ("compute", "연산"),
    "regime.link": ("link", "링크"),
    "no_formula": (
        "no formula; known at the study's point alone",
        "수식이 없어 연구의 값에서만 알 수 있음",
    ),
    "charts": ("Charts", "그래프"),
    "chart_hint": ("Arrow keys read a chart's points one by one.", "화살표 키로 그래프의 점을 하나씩 읽음."),
    "chart_data": ("Numbers of this chart", "이 그래프의 숫자"),
    "roofline": ("Roofline", "루프라인"),
    "tps_context": ("Tokens/s per user against context", "컨텍스트에 따른 사용자당 토큰/s"),
    "tps_batch": ("Tokens/s against batch", "배치에 따른 토큰/s"),
    "memory_context": ("Device memory against context", "컨텍스트에 따른 장치 메모리"),
    "axis_intensity": ("FLOP/byte", "FLOP/byte"),
    "axis_flops": ("FLOP/s", "FLOP/s"),
    "axis_context": ("context, tokens", "컨텍스트, 토큰"),
    "axis_batch": ("batch, sequences", "배치, 시퀀스"),
    "axis_tps": ("tok/s", "tok/s"),
    "axis_bytes": ("GB", "GB"),
    "ceiling": ("Ceiling", "천장"),
    "per_user": ("Per user, expected", "사용자당 예상"),
    "all_users": ("All users, expected", "전체 예상"),
    "here": ("now", "지금"),
    "bound_attainable": ("{phase}: attainable", "{phase}: 허용되는 성능"),
    "figures": ("Figures", "숫자"),
    "bound_roof": ("{phase}: roofline", "{phase}: 루프라인"),
    "bound_expected": ("{phase}: expected", "{phase}: 예상"),
    "formulas": ("Formulas of this case", "이 경우의 수식"),
    "formula_prefill": ("FLOPs of prefill", "Prefill FLOPs"),
    "formula_decode": ("FLOPs of a decode step", "Decode 스텝의 FLOPs"),
    "formula_kv": ("KV bytes of a decode step", "Decode 스텝의 KV 바이트"),
    "formula_hint": (
        "B is the batch; of all devices together, before a schedule changes prompt or batch.",
        "B는 배치. 모든 장치를 합한 값이고, 스케줄이 프롬프트나 배치를 바꾸기 전.",
    ),
    "assumed": ("What this case assumes and leaves out", "이 경우의 가정과 모델링하지 않는 것"),
    "refused": ("Not in this study.", "이 연구에 없는 조합."),
    "left_out": (
        "The study has {count} more cases; a page holds at most {most}.",
        "이 연구에는 {count}개의 경우가 더 있음. 한 페이지에는 최대 {most}개.",
    ),
    "few_formats": (
        "With so many cases the page holds each in its own number format alone.",
        "경우가 많아 각각 자기 숫자 형식으로만 담음.",
    ),
    "nothing": (
        "This study names no model and machine together, so there is nothing to vary.",
        "이 연구는 모델과 기기를 함께 정하지 않아 바꿔 볼 것이 없음.",
    ),
    "all_refused": (
        "costmodel predict refuses every case of this study, so there is nothing to vary; the table says why.",
        "costmodel predict가 이 연구의 모든 경우를 거부해 바꿔 볼 것이 없음. 이유는 표에 있음.",
    ),
    "offline": (
        "One file, no network: its security policy forbids every connection. Made by costmodel {version}.",
        "파일 하나, 네트워크 없음: 보안 정책이 모든 연결을 막음. costmodel {version}로 만듦.",
    ),
    "about_floor": (
        "Floor: bytes over bandwidth and FLOPs over peak, which no engine beats. Expected: at the shares of these that the engine "
        "reaches. Span: where 80 % of comparable measurements lie.",
        "하한: 대역폭으로 나눈 바이트와 최대 성능으로 나눈 FLOPs, 어떤 엔진도 넘지 못함. 예상: 엔진이 실제로 내는 비율로 계산. "
        "범위: 비슷한 측정의 80 %가 놓이는 곳.",
    ),
    "about_bits": (
        "Bits: a named format is compiled, with its mix of types and what the engine reaches with it. Between formats the bytes of "
        "the nearest one are scaled; nothing is known of what an engine would reach there.",
        "비트: 이름 있는 형식은 그 형식의 구성과 엔진 비율까지 그대로 컴파일. 형식 사이에서는 가장 가까운 형식의 바이트를 비례시킬 뿐, "
        "엔진이 거기서 얼마를 낼지는 알 수 없음.",
    ),
}

_WORKLOAD = {"prompt": "프롬프트", "output": "출력", "context": "컨텍스트", "batch": "배치", "devices": "장치"}


def told(field: str, value: int, lang: str) -> str:
    """A field of the workload with its value: `context 8,192`."""
    return f"{_WORKLOAD[field] if lang == 'ko' else field} {value:,}"


def words_in(lang: str) -> dict[str, str]:
    """Every text in a language (en or ko)."""
    place = 1 if lang == "ko" else 0
    return {key: texts[place] for key, texts in _BOTH.items()}
