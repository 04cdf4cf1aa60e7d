"""What a card can do, by PyTorch: copies, products of depthgrid's shapes, attention, launches of a graph.

Prints one line of JSON: a list of {"what", "value", "unit"}. Each figure is the best of five rounds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

ROWS, WIDTH, HEADS, TOKENS = 1024, 256, 4, 128  # B·T rows of a cell at the first study's size
ROUNDS = 5


def seconds_of(run: Callable[[], object], device: str, calls: int, *, graph: bool = False) -> float:
    """Of one call, results available. `graph`: as nodes of a CUDA graph, so that launching costs nothing."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    for _ in range(2):
        run()
    again: Callable[[], object] | None = None
    if graph and device == "cuda":
        aside = torch.cuda.Stream()
        with torch.cuda.stream(aside):
            run()
        wait()
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            for _ in range(calls):
                run()
        again = recorded.replay
        again()
    best = float("inf")
    for _ in range(ROUNDS):
        wait()
        began = time.perf_counter()
        if again is not None:
            again()
        else:
            for _ in range(calls):
                run()
        wait()
        best = min(best, (time.perf_counter() - began) / calls)
    return best


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    device = p.parse_args().device
    torch.set_default_device(device)
    torch.set_num_threads(1)
    on_card = device == "cuda"
    found: list[dict[str, object]] = []

    def add(what: str, value: float, unit: str) -> None:
        found.append({"what": what, "value": value, "unit": unit})

    count = 1 << (28 if on_card else 20)
    x = torch.ones(count)
    y = torch.empty_like(x)
    add(f"copy of {4 * count >> 20} MiB, read and written", 8e-12 * count / seconds_of(lambda: y.copy_(x), device, 5), "TB/s")
    for precision in ("fp32", "tf32", "bf16"):
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        kind = torch.bfloat16 if precision == "bf16" else torch.float32
        for cells in (1, 8, 32) if on_card else (1,):
            a = torch.randn(cells, ROWS, WIDTH, dtype=kind)
            b = torch.randn(cells, WIDTH, 4 * WIDTH, dtype=kind)
            out = torch.empty(cells, ROWS, 4 * WIDTH, dtype=kind)
            flops = 2.0 * cells * ROWS * WIDTH * 4 * WIDTH
            took = seconds_of(lambda a=a, b=b, out=out: torch.bmm(a, b, out=out), device, 20 if on_card else 1, graph=True)
            add(f"bmm ({cells}, {ROWS}, {WIDTH}) ({WIDTH}, {4 * WIDTH}), {precision}", flops / took * 1e-12, "TFLOP/s")
    torch.backends.cuda.matmul.allow_tf32 = False
    backends = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION,
                "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}  # fmt: skip
    for kind, word in ((torch.float32, "fp32"), (torch.bfloat16, "bf16")):
        for cells in (1, 8) if on_card else (1,):
            q, k, v, dy = torch.randn(4, 8 * cells, HEADS, TOKENS, WIDTH // HEADS, dtype=kind).unbind(0)
            leaves = tuple(x.contiguous().requires_grad_(True) for x in (q, k, v))
            for name, backend in backends.items():

                def both(leaves=leaves, dy=dy, backend=backend) -> None:
                    with sdpa_kernel(backend):
                        torch.autograd.grad(F.scaled_dot_product_attention(*leaves, is_causal=True), leaves, dy)

                try:
                    took = seconds_of(both, device, 10 if on_card else 1, graph=True)
                except RuntimeError:  # this back end does not take that type
                    continue
                add(f"attention and gradient, E={cells}, {word}, {name}", took * 1e6, "us")
    if on_card:
        small, nodes = torch.zeros(1024), 500
        add("a small kernel, launched", seconds_of(lambda: small.add_(1), device, nodes) * 1e6, "us")
        took = seconds_of(lambda: small.add_(1), device, nodes, graph=True)
        add("a small kernel as a node of a graph", took * 1e6, "us")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
