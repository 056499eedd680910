"""A memory that behaves for two searches and then does what its first argument says."""

import json
import os
import signal
import subprocess
import sys
import time

mode, searches, scopes = sys.argv[1], 0, {}
if mode == "deaf":
    time.sleep(60)
if mode == "grandchild":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    print(child.pid, file=sys.stderr, flush=True)
if mode == "noisy":
    sys.stderr.write("chatter " * 100_000)
    sys.stderr.flush()

for line in sys.stdin:
    message = json.loads(line)
    n, op = message.get("n"), message["op"]
    if op == "close":
        break
    if op == "index":
        scopes[message["scope"]] = [o["id"] for o in message["observations"]]
        print(json.dumps({"n": n}), flush=True)
        continue
    searches += 1
    ids = scopes[message["scope"]]
    hits = [{"id": identifier, "score": 1.0 - rank / 100} for rank, identifier in enumerate(ids[: message["k"]])]
    answer = {"n": n, "hits": hits}
    if searches > 2:
        print(f"search {searches}: about to misbehave", file=sys.stderr, flush=True)
        if mode == "exit":
            sys.exit(3)
        elif mode == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif mode in ("hang", "grandchild"):
            time.sleep(60)
        elif mode == "rubbish":
            print("Loaded 240 memories!")
        elif mode == "half":
            sys.stdout.write(json.dumps(answer)[:20])
            sys.stdout.flush()
            sys.exit(0)
        elif mode == "twice":
            print(json.dumps(answer))
        elif mode == "list":
            answer = []
        elif mode == "error":
            answer = {"n": n, "error": "index is corrupt"}
        elif mode == "unknown":
            hits[0]["id"] = "o9999"
        elif mode == "scope":
            hits[0]["id"] = next(identifier for scope, found in scopes.items() if scope != message["scope"] for identifier in found)
        elif mode == "more":
            hits[:] = [{"id": identifier, "score": 1.0 - rank / 100} for rank, identifier in enumerate(ids[: message["k"] + 1])]
        elif mode == "nan":
            hits[0]["score"] = float("nan")
        elif mode == "null":
            hits[0]["score"] = None
        elif mode == "text":
            hits[0]["score"] = "0.9"
        elif mode == "duplicate":
            hits[1]["id"] = hits[0]["id"]
        elif mode == "unsorted":
            hits.reverse()
        elif mode == "no-id":
            del hits[0]["id"]
        elif mode == "no-hits":
            del answer["hits"]
    print(json.dumps(answer), flush=True)
