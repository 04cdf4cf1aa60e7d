"""GPT-2 of the package transformers as a reference for the layout hf-gpt2.

  hf_gpt2.py make FOLDER          writes a tiny random GPT2LMHeadModel (config.json,
                                  model.safetensors) and its logits (logits.json); the folder beside
                                  this script was made so
  hf_gpt2.py large FOLDER         writes a random model of GPT-2's smallest size
  hf_gpt2.py losses FOLDER EVAL   compares the losses by position of `depthgrid eval --by-position
                                  --json` on one window with those of the model in FOLDER;
                                  IDS (token ids of that window, T + 1 of them) come from stdin
  hf_gpt2.py greedy FOLDER JSON   compares the tokens of `depthgrid generate --temperature 0 --json`
"""

import json
import pathlib
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def tiny():
    torch.manual_seed(20260101)
    config = GPT2Config(
        vocab_size=23, n_positions=12, n_embd=16, n_layer=2, n_head=2, bos_token_id=None, eos_token_id=None
    )
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():  # nothing may be at its start: zeros and ones would hide mistakes
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.3)
    return model


def logits_of(folder, ids):
    model = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float64).eval()
    with torch.no_grad():
        return model(torch.tensor(ids)).logits


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if what == "make":
        model = tiny()
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        ids = [[(i * i * 5 + i * 3 + b) % 23 for i in range(12)] for b in range(2)]
        logits = logits_of(folder, ids)
        (folder / "logits.json").write_text(json.dumps({"tokens": ids, "logits": logits.flatten().tolist()}) + "\n")
    elif what == "large":
        torch.manual_seed(1)
        model = GPT2LMHeadModel(GPT2Config()).eval()
        with torch.no_grad():
            for name, p in model.named_parameters():
                if name.endswith("bias"):
                    p.add_(torch.randn_like(p) * 0.05)
        print("parameters:", sum(p.numel() for p in model.parameters()))
        model.save_pretrained(folder)
    elif what == "losses":
        theirs = json.load(open(sys.argv[3]))["modes"][0]["loss_by_position"]
        ids = json.load(sys.stdin)
        logits = logits_of(folder, [ids[:-1]])[0]
        ours = torch.nn.functional.cross_entropy(logits, torch.tensor(ids[1:]), reduction="none")
        worst = (ours - torch.tensor(theirs[: len(ours)], dtype=torch.float64)).abs().max().item()
        print(f"{len(ours)} positions, mean {ours.mean().item():.6f} nats, largest difference {worst:.2e}")
        sys.exit(0 if worst <= 1e-4 else 1)
    elif what == "greedy":
        made = json.load(open(sys.argv[3]))
        ids = made["prompt_tokens"]
        for token in made["tokens"]:
            best = logits_of(folder, [ids])[0, -1].argmax().item()
            if best != token:
                sys.exit(f"after {ids}: {token} there, {best} here")
            ids = ids + [token]
        print(f"{len(made['tokens'])} tokens are the same")


main()
