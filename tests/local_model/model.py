#!/usr/bin/env python3
"""Writes a tiny language model with random weights: `model.py FILE.gguf`.

It reads and writes bytes, pairs of the most frequent ones, and the mark that begins a call, and talks nonsense. What a server does around a model is real all the same: its
chat template, its grammars, its cache.
"""

import sys
from pathlib import Path

import gguf
import numpy as np

WIDTH, HIDDEN, CONTEXT = 32, 64, 1 << 20
UNKNOWN, BEGIN, END, CALL, FIRST_BYTE = 0, 1, 2, 3, 4
# How likely a byte is beside the random part: words of small letters, and strings that end after some of them.
# No e: with an exponent, a number of random digits is soon too large for the server's own reading of JSON, which then closes
# the connection without a word.
LIKELY = {ord(letter): 1.0 for letter in "abcdfghijklmnopqrstuvwxyz"}
LIKELY |= {ord('"'): 3.5, ord(" "): 2.5, ord("\\"): -9.0, ord("e"): -9.0, ord("E"): -9.0}
PRINTABLE = range(0x20, 0x7F)
# Read as one token, seldom written: with bytes alone, a prompt would have more tokens than its request has bytes, for
# templates and their JSON are more wordy than ours, and the worker would not believe that count.
FREQUENT = "abcdefghijklmnopqrstuvwxyz _,:\""
PAIRS = [(one + other).encode() for one in FREQUENT for other in FREQUENT]
SELDOM = -4.0


def vocabulary(writer):
    kinds = gguf.TokenType
    tokens = [b"<unk>", b"<s>", b"</s>", b"<tool_call>"] + [f"<0x{byte:02X}>".encode() for byte in range(256)]
    types = [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL, kinds.USER_DEFINED] + [kinds.BYTE] * 256
    # A space is written so in this kind of vocabulary.
    tokens += [pair.replace(b" ", "\u2581".encode()) for pair in PAIRS]
    types += [kinds.NORMAL] * len(PAIRS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_bos_token_id(BEGIN)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(UNKNOWN)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template((Path(__file__).parent / "template.jinja").read_text())
    return len(tokens)


def shape(writer, size):
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(size)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


def output(random, size):
    """The first feature of every token is the same and large, so that its weights are how likely each byte is."""
    weights = random.normal(0, 0.3, (size, WIDTH))
    weights[:, 0] = -9.0
    weights[END, 0] = weights[CALL, 0] = 2.0
    for byte in PRINTABLE:
        weights[FIRST_BYTE + byte, 0] = LIKELY.get(byte, -1.0)
    weights[-len(PAIRS) :, 0] = SELDOM
    # What the norm makes of the feature: about the root of the width.
    weights[:, 0] /= np.sqrt(WIDTH)
    return weights


def weights(writer, size):
    random = np.random.default_rng(31)
    embedding = random.normal(0, 0.1, (size, WIDTH))
    embedding[:, 0] = 2.0

    def add(name, values):
        writer.add_tensor(f"{name}.weight", np.ascontiguousarray(values, dtype=np.float32))

    add("token_embd", embedding)
    add("output_norm", np.ones(WIDTH))
    add("output", output(random, size))
    add("blk.0.attn_norm", np.ones(WIDTH))
    add("blk.0.ffn_norm", np.ones(WIDTH))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.0.{name}", random.normal(0, 0.02, (WIDTH, WIDTH)))
    for name, form in (("ffn_gate", (HIDDEN, WIDTH)), ("ffn_up", (HIDDEN, WIDTH)), ("ffn_down", (WIDTH, HIDDEN))):
        add(f"blk.0.{name}", random.normal(0, 0.02, form))


def main():
    writer = gguf.GGUFWriter(sys.argv[1], "llama")
    writer.add_name("nonsense")
    size = vocabulary(writer)
    shape(writer, size)
    weights(writer, size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
