"""GPT-2 from its files (config.json, model.safetensors) in NumPy, written apart from the program.

  gpt2_reference.py check FOLDER        compares with the logits that the package transformers wrote
                                        there (logits.json, see hf_gpt2.py)
  gpt2_reference.py losses FOLDER EVAL  compares the losses by position of `depthgrid eval
                                        --by-position --json` on one window with those of the model
                                        in FOLDER; IDS (token ids of that window, T + 1 of them) come
                                        from stdin

Source: Radford et al. (2019), section 2.3; names and the layout (in, out) of matrices as in GPT2LMHeadModel.
"""

import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file


def norm(x, scale, shift, eps):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * scale + shift


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def attention(x, heads):
    """x (T, 3 C) -> (T, C): each position attends to itself and those before."""
    tokens, width = x.shape[0], x.shape[1] // 3
    q, k, v = (part.reshape(tokens, heads, -1).transpose(1, 0, 2) for part in np.split(x, 3, axis=1))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(width // heads)
    scores[:, np.triu(np.ones((tokens, tokens), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(tokens, width)


def logits_of(folder, ids):
    """Logits (T, V) of one sequence, in float64."""
    config = json.loads((folder / "config.json").read_text())
    files = {name.removeprefix("transformer."): w.astype(np.float64)
             for name, w in load_file(folder / "model.safetensors").items()}
    eps = config["layer_norm_epsilon"]

    def linear(x, name):
        return x @ files[name + ".weight"] + files[name + ".bias"]

    def normed(x, name):
        return norm(x, files[name + ".weight"], files[name + ".bias"], eps)

    x = files["wte.weight"][ids] + files["wpe.weight"][: len(ids)]
    for i in range(config["n_layer"]):
        mixed = attention(linear(normed(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn"), config["n_head"])
        x = x + linear(mixed, f"h.{i}.attn.c_proj")
        x = x + linear(gelu(linear(normed(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")), f"h.{i}.mlp.c_proj")
    return normed(x, "ln_f") @ files.get("lm_head.weight", files["wte.weight"]).T


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if what == "check":
        kept = json.loads((folder / "logits.json").read_text())
        ours = np.concatenate([logits_of(folder, ids).ravel() for ids in kept["tokens"]])
        worst = np.abs(ours - np.array(kept["logits"])).max()
        limit = 1e-10
    else:
        theirs = np.array(json.load(open(sys.argv[3]))["modes"][0]["loss_by_position"], float)
        ids = json.load(sys.stdin)
        logits = logits_of(folder, ids[:-1])
        top = logits.max(-1)
        sums = top + np.log(np.exp(logits - top[:, None]).sum(-1))
        ours = sums - logits[np.arange(len(ids) - 1), ids[1:]]
        worst = np.abs(ours - theirs[: len(ours)]).max()
        limit = 1e-4
    print(f"{len(ours)} numbers, largest difference {worst:.2e}")
    sys.exit(0 if worst <= limit else 1)


main()
