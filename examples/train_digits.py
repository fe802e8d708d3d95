"""Train a small network on handwritten digits, and keep one step's gradients.

The network has a SiLU and a sigmoid layer; the digits are those that scikit-learn brings along. Of
one step in the middle of the training, what the two layers' backward functions take is written to
safetensors files: gradOutput with self for the SiLU, gradOutput with output for the sigmoid; once
from the float32 training and once from the same step done in bfloat16.

Run it with: python examples/train_digits.py --out DIRECTORY
"""

from __future__ import annotations

import argparse
import copy
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from sklearn.model_selection import train_test_split  # type: ignore[import-untyped]
from torch import Tensor, nn
from torch.nn import functional

SEED = 20260101
BATCH = 128
STEPS = 300
CAPTURED_STEP = 60  # the loss still falls, so that gradients are of all sizes


class Network(nn.Module):
    """64 pixels, a SiLU layer, a sigmoid layer, 10 digits."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 32)
        self.third = nn.Linear(32, 10)

    def activations(self, pixels: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Give the SiLU's input and output, the sigmoid's output and the digits' scores."""
        silu_input = self.first(pixels)
        silu_output = functional.silu(silu_input)
        sigmoid_output = torch.sigmoid(self.second(silu_output))
        return silu_input, silu_output, sigmoid_output, self.third(sigmoid_output)

    def forward(self, pixels: Tensor) -> Tensor:
        """Give the digits' scores."""
        return self.activations(pixels)[-1]


@dataclass(frozen=True)
class Digits:
    """The pictures, with pixels from -1 to 1, and the digits that they show."""

    pixels: Tensor
    labels: Tensor


def load() -> tuple[Digits, Digits]:
    """Give the digits to train with and those to test with."""
    pixels, labels = load_digits(return_X_y=True)
    parts = train_test_split(pixels / 8 - 1, labels, test_size=0.25, random_state=SEED)
    train_pixels, test_pixels = (torch.tensor(part, dtype=torch.float32) for part in parts[:2])
    train_labels, test_labels = (torch.tensor(part) for part in parts[2:])
    return Digits(train_pixels, train_labels), Digits(test_pixels, test_labels)


def capture(network: Network, pixels: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """Give what the backward functions of one step take, in the network's data type."""
    silu_input, silu_output, sigmoid_output, scores = network.activations(pixels)
    silu_output.retain_grad()
    sigmoid_output.retain_grad()
    functional.cross_entropy(scores, labels).backward()  # type: ignore[no-untyped-call]
    network.zero_grad()
    assert silu_output.grad is not None
    assert sigmoid_output.grad is not None
    tensors = {
        "silu.grad_output": silu_output.grad,
        "silu.self": silu_input,
        "sigmoid.grad_output": sigmoid_output.grad,
        "sigmoid.output": sigmoid_output,
    }
    return {name: tensor.detach().contiguous() for name, tensor in tensors.items()}


def train() -> dict[str, dict[str, Tensor]]:
    """Train, and give the captured step by data type."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # sums in the same order everywhere
    training, test = load()
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    captured: dict[str, dict[str, Tensor]] = {}
    for step in range(STEPS + 1):
        chosen = torch.randint(len(training.labels), (BATCH,))
        pixels, labels = training.pixels[chosen], training.labels[chosen]
        if step == CAPTURED_STEP:
            captured["float32"] = capture(network, pixels, labels)
            halved = copy.deepcopy(network).to(torch.bfloat16)
            captured["bfloat16"] = capture(halved, pixels.to(torch.bfloat16), labels)
        optimizer.zero_grad()
        loss = functional.cross_entropy(network(pixels), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step % 60 == 0:
            with torch.no_grad():
                right = (network(test.pixels).argmax(1) == test.labels).float().mean()
            print(f"step {step:3}  loss {loss.item():.3f}  test accuracy {right.item():.1%}")
    return captured


def main() -> int:
    """Train and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the directory for the files")
    parser.add_argument("--force", action="store_true", help="replace existing files")
    options = parser.parse_args()
    paths = {name: options.out / f"digits_{name}.safetensors" for name in ("float32", "bfloat16")}
    existing = [str(path) for path in paths.values() if path.exists()]
    if existing and not options.force:
        print(f"error: {', '.join(existing)} exists; --force replaces it", file=sys.stderr)
        return 2
    captured = train()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, path in paths.items():
        save_file(captured[name], path)
        print(f"wrote {path} ({path.stat().st_size / 1024:.0f} KiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
