# SPDX-License-Identifier: Apache-2.0
"""Write a word-level tokenizer of 512 tokens: make_tokenizer.py OUT_DIR.

Word i is "w<i>". It is enough for clients that make prompts and count tokens
themselves, and needs no network.
"""

import sys

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<s>", "</s>", "<pad>"]


def main(out: str) -> None:
    words = SPECIAL + [f"w{i}" for i in range(512 - len(SPECIAL))]
    # An unknown word becomes w0: a special token would vanish when prompts are decoded.
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate(words)}, unk_token="w0"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    # Without single_word a special token would be found inside other words.
    bos, eos, pad = (AddedToken(s, single_word=True, special=True) for s in SPECIAL)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=bos, eos_token=eos, pad_token=pad, model_max_length=1 << 20
    )
    fast.save_pretrained(out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_tokenizer.py OUT_DIR")
    main(sys.argv[1])
