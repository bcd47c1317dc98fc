"""Bandwidths and peak rates from clocks and widths, as `= formula` fields of hardware documents."""

from __future__ import annotations

import costmodel

from .desk import LINK, Desk
from .registry import reproduces


def load(folder, *, params: dict, bandwidth: str = "1 B/s", peak: str = "1 FLOP/s", **fields):
    """A loaded hardware document."""
    desk = Desk(folder)
    memory = {"device": {"bandwidth": bandwidth}}
    return costmodel.load_hardware(desk.write("hardware", "machine", params=params, memory=memory, compute={"bf16": peak}, **fields)).doc


@reproduces(
    "membw_ddr4_3200_2ch",
    "membw_ddr5_5200_2ch",
    "membw_ddr5_6400_12ch",
    "membw_mrdimm_8800_12ch",
    "membw_lpddr5x_8533_256_gb10",
    "membw_lpddr4x_4266_128_m1",
    "membw_lpddr5_6400_128_m2",
    "membw_lpddr5x_7500_128_m4",
    "membw_gddr7_28_512_5090",
    "membw_gddr6_18_128_4060ti",
    "membw_gddr6_17p5_256_a770",
)
def bandwidth(given, folder):
    """Transfers per second over the width of the bus."""
    params = {"rate": f"{given['mt']} Hz", "bus": f"{given['bits']} bit"}
    return load(folder, params=params, bandwidth="= rate * bus").memory["device"].bandwidth


@reproduces("peak_h100_bf16", "peak_mi300x_bf16", formula="= cores * fma * 2 * clk")
@reproduces("peak_gaudi3_bf16", formula="= mme * fma * 2 * clk")
@reproduces("peak_5090_fp16_fp16acc", "peak_3090_fp16_fp32acc", formula="= sm * flop * clk")
@reproduces("peak_v5e_bf16", formula="= mxu * dim * dim * 2 * clk")
@reproduces("peak_avx512_core_fp32", formula="= fma * lanes * 2 * clk")
def peak(given, folder, formula):
    """Units, operations of each per clock, and the clock."""
    params = {name: f"{value} Hz" if name == "clk" else value for name, value in given.items()}
    return load(folder, params=params, peak=formula).compute["bf16"]


@reproduces("peak_amx_core_bf16")
def peak_per_clock(given, folder):
    """FLOP per cycle of a tile product that is issued every `cycles`: the peak rate at one cycle per second."""
    params = given | {"clk": "1 Hz"}
    return load(folder, params=params, peak="= rows * cols * kbf16 * 2 / cycles * clk").compute["bf16"]


@reproduces("pcie_gen4_x16")
def link(given, folder):
    """Transfers per second over lanes of one bit, less the encoding."""
    params = {"rate": f"{given['gt']} Hz", "lanes": f"{given['lanes']} bit", "encoding": given["enc"]}
    links = {"host": LINK | {"bandwidth": "= rate * lanes * encoding"}}
    return load(folder, params=params, links=links).links["host"].bandwidth
