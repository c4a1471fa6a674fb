"""Operations of a model one product at a time: every token, every layer, every matrix, and each pair of a query and a key
that it sees. Compared with what `inferometer flops --format json` prints of the same config.json."""
import json
import random
import subprocess


def product(rows, inner, columns):
    return 2 * rows * inner * columns


def token(config, at, prompt, wants_words, parts):
    """One token goes through the model at position `at`."""
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    kv_heads, size = config.get("num_key_value_heads", heads), config.get("head_dim", hidden // heads)
    encoder, gated = config["model_type"] == "bert", config["model_type"] not in ("bert", "gpt2")
    for layer in range(config["num_hidden_layers"]):
        for width in (heads * size, kv_heads * size, kv_heads * size):
            parts["projections"] += product(1, hidden, width)
        parts["projections"] += product(1, heads * size, hidden)
        for key in range(prompt if encoder else at + 1):
            if config.get("sliding_window") is None or at - key < config["sliding_window"]:
                for _ in range(heads):
                    parts["attention scores"] += product(1, size, 1) + product(1, 1, size)
        inners = [config["intermediate_size"]]
        experts = config.get("num_local_experts", config.get("num_experts"))
        if experts and layer not in config.get("mlp_only_layers", []):
            parts["feed-forward"] += product(1, hidden, experts)
            inners = [config.get("moe_intermediate_size", inners[0])] * config["num_experts_per_tok"]
            if "shared_expert_intermediate_size" in config:
                parts["feed-forward"] += product(1, hidden, 1)
                inners.append(config["shared_expert_intermediate_size"])
        for inner in inners:
            for _ in range(2 if gated else 1):
                parts["feed-forward"] += product(1, hidden, inner)
            parts["feed-forward"] += product(1, inner, hidden)
    if wants_words:
        parts["LM head"] += product(1, hidden, config["vocab_size"])
        if encoder:
            parts["LM head"] += product(1, hidden, hidden)


def sums(config, prompt, generated, batch):
    phases = []
    encoder = config["model_type"] == "bert"
    for first, n in ((0, prompt), (prompt, max(generated - 1, 0))):
        parts = {"attention scores": 0, "projections": 0, "feed-forward": 0, "LM head": 0}
        for _ in range(batch):
            for at in range(first, first + n):
                token(config, at, prompt, encoder or at >= prompt - 1, parts)
        phases.append(parts)
    return phases


def config_of(family, pick):
    config = {"model_type": family, "num_hidden_layers": pick(1, 3), "num_attention_heads": 4, "hidden_size": 4 * pick(1, 9),
              "intermediate_size": pick(1, 50), "vocab_size": pick(1, 99)}
    if family in ("llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe"):
        config["num_key_value_heads"] = (1, 2, 4)[pick(0, 2)]
    if family.startswith("qwen3"):
        config["head_dim"] = pick(1, 9)
    if family in ("mistral", "mixtral") and pick(0, 1):
        config["sliding_window"] = pick(1, 9)
    if family == "mixtral":
        config.update(num_local_experts=8, num_experts_per_tok=2)
    if family.endswith("_moe"):
        config.update(num_experts=6, num_experts_per_tok=pick(1, 3), moe_intermediate_size=pick(1, 9))
        if pick(0, 1):
            config["mlp_only_layers"] = [0]
    if family == "qwen2_moe":
        config["shared_expert_intermediate_size"] = pick(1, 9)
    if family == "bert":
        config["architectures"] = ["BertForMaskedLM"]
    return config


def printed(config, prompt, generated, batch):
    with open("config.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    words = ["--prompt-tokens", str(prompt)] + (["--batch", str(batch)] if batch else [])
    words += [] if config["model_type"] == "bert" else ["--generated-tokens", str(generated)]
    done = subprocess.run(["inferometer", "flops", "config.json", *words, "--format", "json"], capture_output=True,
                          check=True)
    rows = json.loads(done.stdout)["rows"]
    return {row["part"]: row for row in rows if row["flops_method"] == "architecture"}


FAMILIES = ("llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gpt2", "bert")
draw, agree = random.Random(18), 0
for family in FAMILIES:
    for _ in range(3):
        config = config_of(family, draw.randint)
        prompt, generated, batch = draw.randint(1, 12), draw.randint(1, 6), draw.randint(1, 3)
        generated = 0 if family == "bert" else generated
        rows, (first, rest) = printed(config, prompt, generated, batch), sums(config, prompt, generated, batch)
        for part in first:
            said = rows[part]["flops_prompt"], rows[part]["flops_generated"] or 0
            if said != (first[part], rest[part]):
                print(family, part, config, prompt, generated, batch, "prints", said, "and has", first[part], rest[part])
            else:
                agree += 1
        for key in ("flops_prompt", "flops_total"):
            if rows["all"][key] != sum(rows[part][key] for part in first):
                print(family, key, "is not the sum of its parts")

def several(config, sequences):
    """Sequences of several lengths: each has its own products; one batch of them has those of the longest, padded."""
    commas = [",".join(str(each[i]) for each in sequences) for i in (0, 1)]
    rows, right = printed(config, *commas, None), 0
    for key, phase in (("flops_prompt", 0), ("flops_generated", 1)):
        own = sum(sum(sums(config, *each, 1)[phase].values()) for each in sequences)
        padded = sums(config, max(each[0] for each in sequences), max(each[1] for each in sequences), len(sequences))[phase]
        for part, true in (("all", own), ("padded batch", sum(padded.values()))):
            if (rows[part][key] or 0) == true:
                right += 1
            else:
                print(config, sequences, part, key, "prints", rows[part][key], "and has", true)
    return right


for family in FAMILIES:
    answers = family != "bert"
    agree += several(config_of(family, draw.randint),
                     [(draw.randint(1, 12), draw.randint(1, 6) * answers) for _ in range(draw.randint(2, 4))])
print(agree, "numbers of", len(FAMILIES), "families are those of their products, one by one")
