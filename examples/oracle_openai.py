"""Answer the questions of `linkwise label --oracle` by a language model.

    export OPENAI_API_KEY=...
    linkwise label texts.csv --text text \
        --oracle "python examples/oracle_openai.py --model gpt-4o-mini --topic 'the same request'"

The model is behind any server with the interface of OpenAI (`--url`, default
https://api.openai.com/v1), also one on this machine. Questions come in and answers go out as JSON
lines. The cost is computed from the tokens, at a price for a million of them (`--price`).
"""

import argparse
import json
import os
import sys
import urllib.request

WORDS = {"same": True, "different": False, "unsure": None}


def asked(row):
    """Return a row as a text."""
    return "\n".join(f"{name}: {value}" for name, value in row.items() if name != "id")


def answer(question, options):
    """Return (True, False or None, tokens used)."""
    prompt = (
        f"Do these two belong together, that is, are they about {options.topic}? "
        f"Answer with one word: same, different or unsure.\n\nFirst:\n{asked(question['a'])}\n\n"
        f"Second:\n{asked(question['b'])}"
    )
    body = {
        "model": options.model,
        "temperature": 0,
        "messages": [{"role": "user", "content": prompt}],
    }
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("OPENAI_API_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(
        f"{options.url}/chat/completions", json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        found = json.load(response)
    said = found["choices"][0]["message"]["content"].strip().strip(".").lower()
    return WORDS.get(said), found.get("usage", {}).get("total_tokens", 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--url", default="https://api.openai.com/v1")
    parser.add_argument("--topic", default="the same thing")
    parser.add_argument("--price", type=float, default=0.0, help="of a million tokens")
    options = parser.parse_args()
    for line in sys.stdin:
        question = json.loads(line)
        same, tokens = answer(question, options)
        reply = {"question": question["question"], "same": same}
        print(json.dumps(reply | {"cost": tokens * options.price / 1e6}), flush=True)


if __name__ == "__main__":
    main()
