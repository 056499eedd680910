"""A memory in Python that speaks JSON lines: words that are rare in a scope weigh more."""

import json
import math
import re
import sys
from collections import Counter

scopes = {}


def words(text):
    return dict.fromkeys(re.findall("[a-z0-9]+", text.lower()))


def index(scope, observations):
    documents = [(o["id"], o["timestamp"], words(o["text"])) for o in observations]
    counts = Counter(word for _, _, found in documents for word in found)
    scopes[scope] = documents, counts
    return {}


def search(scope, query, k, asked_at):
    documents, counts = scopes[scope]
    known = [word for word in words(query) if word in counts]
    hits = []
    for identifier, timestamp, found in documents:
        score = sum(math.log(1 + len(documents) / counts[word]) for word in known if word in found)
        if score > 0 and (asked_at is None or timestamp <= asked_at):
            hits.append({"id": identifier, "score": score})
    return {"hits": sorted(hits, key=lambda hit: (-hit["score"], hit["id"]))[:k]}


for line in sys.stdin:
    message = json.loads(line)
    n, op = message.pop("n", None), message.pop("op")
    if op == "close":
        break
    answer = {"index": index, "search": search}[op](**message)
    print(json.dumps({"n": n, **answer}), flush=True)
