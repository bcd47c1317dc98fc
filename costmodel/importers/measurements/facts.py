"""What the lines around llama.cpp's figures say: the device, the model, flags of the run."""

from __future__ import annotations

import re

from .values import read_value

_DEVICE = re.compile(
    r"\s*Device \d+: (.+?), (?:compute capability|gfx|VMM|VRAM)|\s*ggml_vulkan: \d+ = ([^|(]+?(?:\([^|)]*\))?)\s*(?:\(|\|)"
)
_ONE_DEVICE = re.compile(r"ggml_metal\w*:\s+(?:found device|picking default device|GPU name):\s*(.+)")
_START = re.compile(r"ggml_\w+:\s+found \d+ (?:CUDA|ROCm|HIP|MUSA|Vulkan|SYCL)\b|ggml_vulkan: Found \d+")
_META = re.compile(r"(?:print_info|llm_load_print_meta):\s+([a-z. ]+?)\s*=\s*(.+)")
_FLAGS = re.compile(r": n_kv_max = \d+")
_FLAG = re.compile(r"(flash_attn|n_gpu_layers|n_ubatch|n_threads) = (-?\d{1,9})")
_LOADED = re.compile(r"llama_model_loader: loaded meta data with .{0,80} from (.+?)(?: \(version .*)?")
_BUILD = re.compile(r"(?:main: )?build:? ?[:=] ?(\d+ \([0-9a-f]+\)|[0-9a-f]+ \(\d+\)).*")
_FLAG_FIELDS = {
    "flash_attn": ("flash_attn", "flag"),
    "n_gpu_layers": ("gpu_layers", "layers"),
    "n_ubatch": ("ubatch", "count"),
    "n_threads": ("threads", "count"),
}


class Facts:
    """What is known so far; `values` are fields of a measurement."""

    def __init__(self) -> None:
        self.values: dict = {}
        self._devices: list[str] = []

    def read(self, line: str) -> None:
        """Take in one line of a log; other text changes nothing."""
        if len(line) > 1000:
            return
        if "ggml_" in line or "Device " in line:
            self._device(line)
        elif found := _META.fullmatch(line.strip()):
            self._meta(found[1], found[2].strip())
        elif found := _LOADED.fullmatch(line.strip()):
            self.values["model"] = found[1]
        elif _FLAGS.search(line):
            for name, value in _FLAG.findall(line):
                field, kind = _FLAG_FIELDS[name]
                self._put(field, kind, value)
        elif found := _BUILD.fullmatch(line.strip()):
            self.values["version"] = found[1]

    def _device(self, line: str) -> None:
        if _START.search(line):
            self._devices = []
        found = _DEVICE.match(line)
        name = (found[1] or found[2]) if found else None
        if one := _ONE_DEVICE.search(line):
            self._devices, name = [], one[1]
        if name:
            self._devices = [*self._devices, name.strip()][:64]
            same = len(set(self._devices)) == 1
            self.values["hardware"] = self._devices[0] if same else ", ".join(self._devices)
            self.values["devices"] = len(self._devices)

    def _meta(self, key: str, text: str) -> None:
        if key == "model params":
            self._put("params", "params", text)
        elif key in ("file size", "model size"):
            self._put("file_bytes", "file", text.partition("(")[0])
        elif key in ("file type", "model ftype"):
            from .bench import model_words

            self._put("weight_format", "text", model_words(f"x {text}").get("weight_format", ""))
        elif key == "general.name":
            self.values.setdefault("model", text)

    def _put(self, field: str, kind: str, text: str) -> None:
        try:
            value = read_value(kind, text)
        except ValueError:
            return
        if value is not None:
            self.values[field] = value
