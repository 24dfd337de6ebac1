#!/usr/bin/env python3
"""A business service that registers itself with ax as an executor.

It needs Python 3.8 or later and nothing else:

    AX_URL=http://127.0.0.1:8080 AX_TOKEN=ax_... AX_SIGNING_KEY=... \
        python3 executor.py --name billing --port 9001

The token is made with `ax token create --executors billing`, the key is what
`ax signing-key` prints. docs/executors.md says how it all fits together.
"""

import argparse
import hashlib
import hmac
import json
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

AX_URL = os.environ.get("AX_URL", "http://127.0.0.1:8080").rstrip("/")
AX_TOKEN = os.environ.get("AX_TOKEN", "")
SIGNING_KEY = os.environ.get("AX_SIGNING_KEY", "")
WINDOW = 300  # seconds that a signature is good for


def say(*words):
    print(" ".join(map(str, words)) + "\n", end="", flush=True)  # in one piece


def send(method, url, body=None, bearer=True):
    """One request with JSON. Gives status and answer; an HTTP error is one too."""
    request = urllib.request.Request(url, method=method)
    request.add_header("Content-Type", "application/json")
    if bearer:
        request.add_header("Authorization", "Bearer " + AX_TOKEN)
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(request, data, timeout=5) as answer:
            raw = answer.read()
            return answer.status, json.loads(raw) if raw else {}
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {"body": error.read().decode(errors="replace")}


def signed(headers, body):
    """Tells whether a call comes from ax and is fresh."""
    stamp = headers.get("Ax-Timestamp", "")
    if not stamp.isdigit() or abs(time.time() - int(stamp)) > WINDOW:
        return False
    text = (stamp + "." + headers.get("Ax-Instance", "") + ".").encode() + body
    want = "v1=" + hmac.new(SIGNING_KEY.encode(), text, hashlib.sha256).hexdigest()
    return hmac.compare_digest(want, headers.get("Ax-Signature", ""))


class Work:
    """What this service runs and has done, by Idempotency-Key.

    A real service keeps the keys in its database, in the transaction of the
    work itself: they must outlive a restart.
    """

    def __init__(self):
        self.lock = threading.Lock()
        self.running = set()
        self.done = set()

    def begin(self, key):
        """"new", "running" or "done"."""
        with self.lock:
            if key in self.done:
                return "done"
            if key in self.running:
                return "running"
            self.running.add(key)
            return "new"

    def end(self, key):
        with self.lock:
            self.running.discard(key)
            self.done.add(key)

    def count(self):
        with self.lock:
            return len(self.running)


work = Work()


def close_day(key, call, headers):
    """Long work: it was answered 202, tells how far it is, and sends a receipt."""
    receipt, token = headers.get("Ax-Receipt-Url", ""), headers.get("Ax-Receipt-Token", "")
    progress = receipt.rsplit("/", 1)[0] + "/progress"
    outcome, message = "succeeded", "3 ledgers closed"
    try:
        for step in range(1, 4):
            time.sleep(0.1)  # here a ledger is closed
            status, _ = send("POST", progress, {"token": token, "percent": 33 * step, "message": "ledger %d of 3" % step}, bearer=False)
            if status == 404:
                say("this ax takes no progress reports")
    except Exception as error:  # whatever went wrong, ax must hear of it
        outcome, message = "failed", str(error)
    work.end(key)
    for wait in (1, 2, 5, 10, 30, 60):
        try:
            status, answer = send("POST", receipt, {"token": token, "outcome": outcome, "message": message}, bearer=False)
            if status < 500 and status != 429:
                say("receipt", call["instance_id"], status)
                return
        except OSError as error:
            say("receipt not sent, again in", wait, "s:", error)
        time.sleep(wait)


def refresh(call):
    """Short work, and part of a broadcast when it has a shard."""
    shard = call.get("shard") or {"index": 0, "total": 1}
    mine = [n for n in range(100) if n % shard["total"] == shard["index"]]
    return {"refreshed": len(mine), "shard": shard}


TYPES = [
    {"type": "close-day", "description": "Closes the books of a day; reports later"},
    {"type": "refresh", "description": "Refreshes prices; made for a broadcast"},
]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if SIGNING_KEY and not signed(self.headers, body):
            return self.answer(401, {"error": "the signature is wrong or old"})
        kind, key = self.path.rsplit("/ax/", 1)[-1], self.headers.get("Idempotency-Key", "")
        call = json.loads(body)
        say("call", kind, key)
        if kind == "refresh":
            return self.answer(200, refresh(call))
        if kind != "close-day":
            return self.answer(404, {"error": "no work of this type"})
        state = work.begin(key)
        if state == "done":
            return self.answer(200, {"already": True})
        if state == "new":
            headers = dict(self.headers.items())
            threading.Thread(target=close_day, args=(key, call, headers)).start()
        self.answer(202, {"state": state})

    def answer(self, status, value):
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


class Registration:
    """Keeps the service in ax's rotation until leave()."""

    def __init__(self, name, address, weight):
        self.body = {"name": name, "address": address, "task_types": TYPES, "weight": weight, "version": "1.0.0"}
        self.id = None
        self.pause = 5
        self.left = threading.Event()

    def register(self):
        status, answer = send("POST", AX_URL + "/api/v1/executors", self.body)
        if status == 201:
            self.id, self.pause = answer["id"], answer["heartbeat_seconds"]
            say("registered", self.id)
        elif status in (401, 403, 422):
            sys.exit("ax refuses the registration: %d %s" % (status, answer.get("body")))
        else:
            say("not registered yet:", status)

    def beat(self):
        status, _ = send("PUT", AX_URL + "/api/v1/executors/%s/heartbeat" % self.id, {"running": work.count()})
        if status in (404, 410):  # ax forgot us, or we were silent for too long
            self.register()

    def run(self):
        while not self.left.wait(self.pause):
            try:
                self.register() if self.id is None else self.beat()
            except OSError as error:
                say("ax can't be reached:", error)

    def leave(self):
        self.left.set()
        if self.id is not None:
            try:
                send("DELETE", AX_URL + "/api/v1/executors/" + self.id)
                say("left")
            except OSError as error:
                say("not signed off:", error)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--name", default="billing")
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=0, help="0: any that is free")
    options.add_argument("--weight", type=int, default=100)
    o = options.parse_args()

    server = ThreadingHTTPServer((o.host, o.port), Handler)
    address = "http://%s:%d" % (o.host, server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    registration = Registration(o.name, address, o.weight)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        registration.register()
    except OSError as error:
        say("ax can't be reached, trying again:", error)
    threading.Thread(target=registration.run, daemon=True).start()
    stop.wait()
    registration.leave()  # first: nothing new comes, then what runs may end
    while work.count() > 0:
        time.sleep(0.1)
    server.shutdown()


if __name__ == "__main__":
    main()
