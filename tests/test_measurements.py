"""Files of measurements: every form that is read, what is refused, and that nothing else is ever raised."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.importers.measurements import FIGURES, Measurement, read_measurements, read_text
from costmodel.importers.measurements import table as tables
from costmodel.importers.measurements.columns import BY_NAME, COLUMNS, plain
from costmodel.language.problem import SpecError

DATA = Path(__file__).parent / "data" / "measurements"
GiB = 2**30


def rows(name: str, **fill) -> list[Measurement]:
    return read_measurements(DATA / name, fill)


def facts(row: Measurement, *names: str) -> tuple:
    return tuple(getattr(row, name) for name in names)


def refused(text: str, **fill) -> str:
    with pytest.raises(SpecError) as caught:
        read_text(text, "x.csv", fill)
    return str(caught.value)


def test_own_table_in_base_units():
    text = "model_name,hardware_name,hw_mem_bw_GBps_spec,hw_vram_GB,params_B,model_file_GiB,flash_attn,context_depth,gen_tokens,decode_tok_s,ttft_ms\n"
    (row,) = read_text(text + "Llama 3 8B,RTX 3090 24GB,936,24,8.03,4.58,1,512,256,111.7,250\n", "x")
    assert facts(row, "bandwidth", "capacity", "params", "file_bytes") == (936e9, 24 * GiB, 8.03e9, 4.58 * GiB)
    assert facts(row, "flash_attn", "decode_tps", "ttft_s", "mean_context") == (True, 111.7, 0.25, 640)
    assert (row.source.source.name, row.source.line) == ("x", 2)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffmodel,hw,tok/s\n8b,ddr5,12.5\n".replace("tok/s", "tok_s"),
        "model;hw;tok_s\r\n8b;ddr5;12,5\r\n",
        "Model\tHW\tTok/s\n8b\tddr5\t12.5 ± 0.3\n",
        "\n\n| model | hw | tok_s |\n|---|---|---:|\n| 8b | `ddr5` | **12.5** |\n",
        '[{"model": "8b", "hardware": "ddr5", "tok_s": 12.5}]',
        '{"model": "8b", "hardware": "ddr5", "decode_tok_s": "12.5 t/s", "more": {"x": []}}',
    ],
)
def test_the_same_row_in_many_forms(tmp_path, text):
    path = tmp_path / "data.txt"
    path.write_bytes(text.encode())
    (row,) = read_measurements(path)
    assert facts(row, "model", "hardware", "decode_tps") == ("8b", "ddr5", 12.5)


def test_utf16_and_standard_input(monkeypatch):
    raw = "model,hw,tok_s\n8b,ddr5,12.5\n".encode("utf-16")
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(raw)}))
    assert read_measurements("-")[0].decode_tps == 12.5


def test_units_in_cells():
    text = 'model,bandwidth,vram,params,size,ttft,prompt,prefill\n8b,1.8 TB/s,24 GiB,600M,4920 MB,1.5 s,8k,"2,402.5"\n'
    (row,) = read_text(text, "x")
    assert facts(row, "bandwidth", "capacity", "params", "file_bytes") == (1.8e12, 24 * GiB, 6e8, 4.92e9)
    assert facts(row, "ttft_s", "prompt", "prefill_tps") == (1.5, 8192, 2402.5)


def test_quoted_newlines_keep_lines():
    text = 'model,hw,notes,tok_s\n8b,ddr5,"two\nlines",12\n8b,ddr5,x,oops\n'
    assert "x.csv:4:11: column `tok_s`: 'oops'" in refused(text)


def test_blank_batch_of_a_throughput_bench_is_aggregate():
    text = "model,hw,tool,batch,tok_s\n8b,h100,trtllm-bench throughput,,900\n8b,h100,vllm bench serve,16,900\n8b,h100,llama-bench,,9\n"
    assert [row.aggregate for row in read_text(text, "x")] == [True, False, False]


def test_unknown_columns_are_one_note():
    found = read_text("model,hw,tok_s,colour,shape\n8b,ddr5,12,red,round\n", "x")
    assert found.notes == ["2 columns are ignored: `colour`, `shape`"]


def test_fill_only_fills_blanks():
    found = read_text("model,hw,tok_s\n8b,,12\n,rtx4090,90\n", "x", {"model": "70b", "hardware": "ddr5", "engine": "mlx"})
    assert [facts(r, "model", "hardware", "engine") for r in found] == [("8b", "ddr5", "mlx"), ("70b", "rtx4090", "mlx")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model,hw,tok_s\n8b,ddr5,12x\n", "x.csv:2:9: column `tok_s`: '12x': no unit `x`"),
        ("model,hw,tok_s\n8b,ddr5,-4\n", "want a number above 0"),
        ("model,hw,tok_s\n8b,ddr5,0\n", "want a number above 0"),
        ("model,hw,tok_s,prompt\n8b,ddr5,4,1.5\n", "want a whole number"),
        ("model,hw,tok_s,prompt\n8b,ddr5,4,0\n", "want at least 1"),
        ("model,hw,tok_s,fa\n8b,ddr5,4,maybe\n", "want 1 or 0"),
        ("model,hw,tok_s\n,ddr5,4\n", "x.csv:2:1: no model"),
        ("model,hw,tok_s\n8b,,4\n", "no machine"),
        ("model,hw,tok_s\n8b,ddr5,nan\n", "no measured figure"),
        ("model,hw,tok_s,tps\n8b,ddr5,4,4\n", "two columns mean `decode_tok_s`"),
        ("model,hw,tok_s\n8b,ddr5,4,5\n", "4 cells under 3 headings"),
        ("model,hw,tok_s\n", "a table without rows"),
        ("model,hw,speeed\n8b,ddr5,4\n", "no measured figure in this file; looked for"),
        ("hello\n", "measurements of no known form; looked for"),
        ("", "nothing to read"),
        ('{"a": 1}', "measurements of no known form"),
        ('{"avg_latency": ', "x.csv:1:17: bad JSON"),
        ('[{"avg_ts": 5, "n_gen": "x"}]', "`n_gen`: 'x' is not a whole number"),
        ('{"duration": 1, "output_throughput": 0, "completed": 0}', "every request failed"),
        ("| model | test | t/s |\n|--|--|--|\n| a | tq5 | 5 |\n", "want pp512, tg128"),
    ],
)
def test_refusals(text, told):
    assert told in refused(text)


def test_all_problems_at_once():
    message = refused("model,hw,tok_s\n8b,ddr5,x1\n8b,ddr5,x2\n")
    assert "x.csv:2:9" in message and "x.csv:3:9" in message


def test_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 3)
    assert "more than 3 rows" in refused("model,hw,tok_s\n" + "8b,ddr5,4\n" * 4)
    assert len(read_text("model,hw,tok_s\n" + "8b,ddr5,4\n" * 3, "x")) == 3
    assert "field larger than field limit" in refused("model,hw,tok_s,notes\n8b,ddr5,4," + "x" * 200_000 + "\n")


def test_long_files_take_linear_time():
    from time import process_time

    def spent(n: int) -> float:
        start = process_time()
        refused("model,hw,tok_s\n" + "8b,d,x\n" * n)
        read_text("[" + '{"avg_ts": 1, "n_gen": 5},\n' * n + "{}]", "x", {"model": "m", "hardware": "h"})
        return process_time() - start

    assert spent(8000) < 12 * spent(2000) + 0.5


def test_no_such_file_and_no_text(tmp_path):
    with pytest.raises(SpecError, match="no such file"):
        read_measurements(tmp_path / "none.csv")
    (tmp_path / "raw").write_bytes(b"model\xff\xfe\x00")
    with pytest.raises(SpecError, match="is not UTF-8 text"):
        read_measurements(tmp_path / "raw")


def test_llama_bench_markdown_pasted_with_words_around():
    found = rows("llama-bench.md", hardware="ryzen")
    assert found.layout == "llama-bench" and len(found) == 6
    pp, tg, pp_deep, tg_deep, both, cpu = found
    assert facts(pp, "hardware", "devices", "weight_format", "kv_dtype") == ("ryzen", 2, "Q4_K_M", "q8_0")
    assert facts(pp, "prompt", "context", "output", "prefill_tps", "prefill_sd", "decode_tps") == (512, 0, None, 3340.2, 23.45, None)
    assert facts(tg, "prompt", "context", "output", "decode_tps", "decode_sd") == (None, 0, 128, 110.6, 0.59)
    assert (pp_deep.context, tg_deep.context, tg_deep.mean_context) == (4096, 4096, 4160)
    assert facts(both, "prompt", "output", "total_tps", "prefill_tps", "decode_tps") == (512, 128, 480.33, None, None)
    assert facts(cpu, "threads", "weight_format", "decode_tps", "devices") == (8, "Q4_0", 16.71, None)
    assert facts(tg, "params", "file_bytes", "gpu_layers", "flash_attn", "engine") == (8.03e9, 4.58 * GiB, 99, True, "llama.cpp")


def test_the_device_lines_name_the_machine():
    text = (DATA / "llama-bench.md").read_text("utf-8").split("And an older")[0]
    assert {row.hardware for row in read_text(text, "x")} == {"NVIDIA GeForce RTX 3090"}
    assert "no machine" in refused((DATA / "llama-bench.md").read_text("utf-8"))


def test_llama_bench_json_after_log_lines():
    pp, tg = rows("llama-bench.json")
    assert (pp.source.line, tg.source.line) == (3, 37)
    assert facts(pp, "model", "model_key", "weight_format", "hardware", "devices", "parallelism") == (
        "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "qwen2 7B", "Q4_K_M", "NVIDIA GeForce RTX 4080", 2, "layer split",
    )  # fmt: skip
    assert facts(pp, "prefill_tps", "prefill_sd", "kv_dtype", "ubatch", "flash_attn") == (
        7100.002165,
        140.34152,
        "f16 K, q8_0 V",
        512,
        True,
    )
    assert facts(tg, "devices", "context", "output", "decode_tps", "flash_attn") == (1, 4096, 128, 118.881588, None)
    assert facts(tg, "params", "file_bytes", "version", "batch") == (7615616512, 4677120000, "8cf427ff (5163)", 1)


def test_llama_bench_jsonl_is_as_json():
    items = json.loads((DATA / "llama-bench.json").read_text().partition("\n")[2])
    lines = "".join(json.dumps(item) + "\n" for item in items)
    assert [facts(r, *FIGURES, "hardware") for r in read_text(lines, "x")] == [
        facts(r, *FIGURES, "hardware") for r in rows("llama-bench.json")
    ]


def test_llama_bench_csv_of_2023():
    pp, tg = rows("llama-bench-old.csv")
    assert facts(pp, "backend", "hardware", "weight_format", "prefill_tps") == (
        "CUDA,BLAS",
        "NVIDIA GeForce RTX 3090 Ti",
        "Q4_0",
        2413.341687,
    )
    assert facts(tg, "hardware", "decode_tps", "output") == ("13th Gen Intel(R) Core(TM) i9-13900K", 132.052051, 128)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("qwen3moe 30B.A3B Q4_K - Small", "Q4_K_S"),
        ("gpt-oss 20B MXFP4 MoE", "MXFP4"),
        ("llama 8B all F32", "F32"),
        ("llama 70B IQ2_XXS - 2.0625 bpw", "IQ2_XXS"),
        ("llama 8B IQ3_S mix - 3.66 bpw", "IQ3_M"),
        ("gemma3 27B Q6_K", "Q6_K"),
    ],
)
def test_formats_in_model_descriptions(text, made):
    (row,) = read_text(f"| model | test | t/s |\n|-|-|-|\n| {text} | tg128 | 5 |\n", "x", {"hardware": "h"})
    assert row.weight_format == made and row.model == text


def test_experts_on_the_host_are_a_technique():
    text = "| model | n_cpu_moe | test | t/s |\n|-|-:|-|-|\n| a | 20 | tg128 | 5 |\n| a | 0 | tg128 | 9 |\n"
    assert [r.technique for r in read_text(text, "x", {"hardware": "h"})] == ["experts on CPU: 20 layers", None]


def test_sweeps():
    first, second = rows("sweep.md", model="m", hardware="h")
    assert facts(second, "context", "prompt", "output", "prefill_tps", "decode_tps") == (512, 512, 128, 432.97, 67.55)
    assert facts(first, "params", "weight_format", "file_bytes", "gpu_layers", "threads") == (8.03e9, "IQ4_XS", 4.13 * GiB, 0, 8)
    assert [r.context for r in rows("sweep.jsonl", model="m", hardware="h")] == [0, 512]
    prefill, decode = rows("batched.md", model="m", hardware="h")
    assert facts(prefill, "batch", "context", "prefill_tps", "decode_tps") == (4, 0, 332.15, None)
    assert facts(decode, "batch", "context", "output", "decode_tps", "prefill_tps") == (4, 512, 128, 53.23, None)


def test_timings_of_llama_cpp_and_ollama():
    found = rows("llama-cli.log", hardware="h")
    assert [(r.prompt, r.context, r.output, r.prefill_tps, r.decode_tps) for r in found] == [
        (512, 0, None, 404.46, None), (512, 512, 127, None, 15.22), (20, 0, None, 100.0, None), (20, 20, 80, None, 16.0),
    ]  # fmt: skip
    assert facts(found[0], "model", "params", "weight_format") == ("models/llama-3.1-8b-q8_0.gguf", 8.03e9, "Q8_0")
    prefill, decode = rows("ollama.txt", model="m", hardware="h")
    assert (prefill.prefill_tps, decode.decode_tps, decode.context, decode.output) == (200.0, 32.15, 26, 298)


def test_ollama_api():
    text = (
        '{"model": "llama3:8b", "prompt_eval_count": 20, "prompt_eval_duration": 100000000, "eval_count": 64, "eval_duration": 2000000000}'
    )
    prefill, decode = read_text(text, "x", {"hardware": "h"})
    assert prefill.prefill_tps == pytest.approx(200) and decode.decode_tps == pytest.approx(32) and decode.model == "llama3:8b"


def test_vllm():
    (serve,) = rows("vllm-serve.json", hardware="h100")
    assert facts(serve, "model", "prompt", "context", "output", "batch") == ("meta-llama/Llama-3.1-8B-Instruct", 1024, 1024, 128, 16)
    assert facts(serve, "decode_tps", "whole_run", "total_tps", "engine") == (213.3, True, 1920.0, "vllm")
    assert facts(serve, "ttft_s", "tpot_s", "latency_s") == pytest.approx((0.3505, 0.0225, 3.2))
    (latency,) = rows("vllm-latency.json", hardware="h100", model="8b", prompt=32, output=128, batch=8)
    assert facts(latency, "latency_s", "prompt", "output", "batch") == (2.5, 32, 128, 8)
    (total,) = rows("vllm-throughput.json", hardware="h100", model="8b", prompt=256)
    assert facts(total, "total_tps", "output", "decode_tps", "aggregate") == (7680.0, 128, 2560.0, True)


def test_sglang():
    serve, prefill, decode = rows("sglang.jsonl", hardware="h100", model="8b")
    assert facts(serve, "model", "devices", "prompt", "output", "aggregate", "engine") == ("Qwen/Qwen3-8B", 2, 512, 128, True, "sglang")
    assert facts(serve, "tpot_s", "latency_s") == (0.012, 9.0)
    assert (prefill.prefill_tps, decode.decode_tps, decode.batch, decode.context) == (1143.34, 211.77, 4, 1024)


def test_every_column_is_a_field_and_every_name_means_one():
    assert {c.field for c in COLUMNS} == set(Measurement.__slots__) - {"source"}
    names = [plain(n) for c in COLUMNS for n in {plain(x) for x in (c.name, *c.also, c.field)}]
    assert len(names) == len(set(names)) == len(BY_NAME)


def test_the_page_lists_every_column():
    page = (Path(__file__).parent.parent / "docs" / "measurements.md").read_text("utf-8")
    for c in COLUMNS:
        also = ", ".join(f"`{n}`" for n in c.also)
        assert f"| `{c.name}` | {c.unit} | {c.meaning} | {also} |" in page


def test_reading_loads_nothing_heavy():
    import subprocess

    code = "import sys, costmodel.importers.measurements as m; m.read_text('model,hw,tok_s\\n8b,a,1\\n','x'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert not {"pydantic", "sympy", "numpy", "yaml", "jinja2"} & set(done.stdout.split())


_SAMPLES = [p.read_text("utf-8") for p in sorted(DATA.iterdir())]
_PIECES = st.sampled_from(
    ["model", "hw", "tok_s", "test", "t/s", ",", ";", "\t", "|", "\n", "[", "{", "}", "]", '"', "\\", "±", "nan", "1e999", "-1", "8k",
     "avg_ts", "n_gen", ":", "null", "true", "\x00", "\ud7ff", "\u2028", "prompt eval time =", "eval rate: 5 tokens/s", " "]
)  # fmt: skip


@given(st.one_of(st.lists(_PIECES, max_size=40).map("".join), st.text(max_size=200)))
def test_any_text_is_read_or_refused(text):
    _read_or_refuse(text)


@given(st.sampled_from(_SAMPLES), st.integers(0, 3000), st.integers(0, 60), st.text(max_size=8))
def test_damaged_files_are_read_or_refused(text, start, length, patch):
    _read_or_refuse(text[:start] + patch + text[start + length :])


def _read_or_refuse(text: str) -> None:
    try:
        found = read_text(text, "x", {"model": "m", "hardware": "h"})
    except SpecError as error:
        assert str(error)
    else:
        assert found and all(any(getattr(r, f) for f in FIGURES) for r in found)


@given(st.dictionaries(st.sampled_from(["avg_latency", "avg_ts", "n_gen", "n_prompt", "speed_pp", "speed_tg", "duration", "output_throughput",
       "completed", "eval_count", "eval_duration", "server_info", "model_id", "max_concurrency", "flash_attn", "gpu_info", "tok_s", "type_k"]),
       st.one_of(st.none(), st.booleans(), st.integers(-10, 10**30), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=2),
                 st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))))  # fmt: skip
def test_any_json_object_is_read_or_refused(data):
    _read_or_refuse(json.dumps(data))
