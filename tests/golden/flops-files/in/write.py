"""A small model as a GGUF file, as safetensors files, and as broken ones. Written by the formats' descriptions."""
import json
import os
import struct

HIDDEN, LAYERS, INNER, WORDS, KV = 64, 3, 160, 1000, 16
CONFIG = {"model_type": "llama", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": 8,
          "num_key_value_heads": 2, "intermediate_size": INNER, "vocab_size": WORDS}


def text(words):
    return struct.pack("<Q", len(words)) + words.encode()


def value(key, number):
    if isinstance(number, str):
        return text(key) + struct.pack("<I", 8) + text(number)
    return text(key) + struct.pack("<II", 4, number)


def gguf(path, family="llama", **more):
    metadata = {"general.architecture": family, f"{family}.block_count": LAYERS, f"{family}.embedding_length": HIDDEN,
                f"{family}.feed_forward_length": INNER, f"{family}.attention.head_count": 8,
                f"{family}.attention.head_count_kv": 2, **more}
    tensors = [("token_embd.weight", (HIDDEN, WORDS)), ("output.weight", (HIDDEN, WORDS)), ("output_norm.weight", (HIDDEN,))]
    for i in range(LAYERS):
        shapes = {"attn_norm": (HIDDEN,), "ffn_norm": (HIDDEN,), "attn_q": (HIDDEN, HIDDEN), "attn_k": (HIDDEN, KV),
                  "attn_v": (HIDDEN, KV), "attn_output": (HIDDEN, HIDDEN), "ffn_gate": (HIDDEN, INNER),
                  "ffn_up": (HIDDEN, INNER), "ffn_down": (INNER, HIDDEN)}
        tensors += [(f"blk.{i}.{name}.weight", shape) for name, shape in shapes.items()]
    data = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    data += b"".join(value(key, number) for key, number in metadata.items())
    for name, shape in tensors:
        data += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        data += struct.pack("<IQ", 12 if len(shape) > 1 else 0, 0)
    with open(path, "wb") as file:
        file.write(data)


def safetensors(path, tensors, dtype="F16", size=2):
    header, at = {}, 0
    for name, shape in tensors.items():
        bytes_of = size
        for n in shape:
            bytes_of *= n
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + bytes_of]}
        at += bytes_of
    words = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(words)) + words + bytes(at))


def parts():
    """Two files of one model."""
    first = {"model.embed_tokens.weight": [WORDS, HIDDEN], "lm_head.weight": [WORDS, HIDDEN], "model.norm.weight": [HIDDEN]}
    rest = {}
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        rest.update({layer + "self_attn.q_proj.weight": [HIDDEN, HIDDEN], layer + "self_attn.k_proj.weight": [KV, HIDDEN],
                     layer + "self_attn.v_proj.weight": [KV, HIDDEN], layer + "self_attn.o_proj.weight": [HIDDEN, HIDDEN],
                     layer + "mlp.gate_proj.weight": [INNER, HIDDEN], layer + "mlp.up_proj.weight": [INNER, HIDDEN],
                     layer + "mlp.down_proj.weight": [HIDDEN, INNER], layer + "input_layernorm.weight": [HIDDEN],
                     layer + "post_attention_layernorm.weight": [HIDDEN]})
    return first, rest


def folder(name, config, *files, dtype="F16", size=2):
    os.mkdir(name)
    if config is not None:
        with open(os.path.join(name, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
    for path, tensors in files:
        safetensors(os.path.join(name, path), tensors, dtype, size)


FIRST, REST = parts()
gguf("small.gguf")
gguf("other.gguf", "mamba")
gguf("split.gguf", **{"split.count": 2})
with open("small.gguf", "rb") as whole, open("cut.gguf", "wb") as cut:
    cut.write(whole.read()[:500])
HALVES = ("model-00001-of-00002.safetensors", FIRST), ("model-00002-of-00002.safetensors", REST)
folder("hub", CONFIG, *HALVES, ("consolidated.safetensors", {**FIRST, **REST}))
folder("tensors", None, ("model.safetensors", {**FIRST, **REST}))
folder("unknown", {**CONFIG, "model_type": "mamba"}, ("model.safetensors", {**FIRST, **REST}))
folder("missing", CONFIG, HALVES[0])
folder("twice", CONFIG, ("a.safetensors", FIRST), ("b.safetensors", FIRST))
folder("packed", {**CONFIG, "quantization_config": {"quant_method": "gptq", "bits": 4}},
       ("model.safetensors", {name: [shape[0] // 8, *shape[1:]] for name, shape in REST.items() if len(shape) > 1}),
       dtype="I32", size=4)
folder("vision", CONFIG, ("model.safetensors", {**FIRST, **REST, "vision_tower.weight": [1000, 100]}))
folder("empty", None)
