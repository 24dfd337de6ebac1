#!/usr/bin/env python3
"""A plain target of ax that believes only calls that ax signed.

    AX_SIGNING_KEY=$(ax signing-key) python3 verify_signature.py --port 9002

It answers 401 when the signature is wrong, 408 when it is older than five
minutes, 409 when the same call was seen before, and 200 otherwise.
"""

import argparse
import hashlib
import hmac
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = os.environ["AX_SIGNING_KEY"].encode()
WINDOW = 300  # seconds

seen = {}  # signature -> when; a real target keeps them for WINDOW as well
lock = threading.Lock()


def check(headers, body, now):
    """The status that a call deserves."""
    stamp, instance = headers.get("Ax-Timestamp", ""), headers.get("Ax-Instance", "")
    signature = headers.get("Ax-Signature", "")
    want = "v1=" + hmac.new(KEY, (stamp + "." + instance + ".").encode() + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(want, signature):
        return 401
    if not stamp.isdigit() or abs(now - int(stamp)) > WINDOW:
        return 408
    with lock:
        for old in [s for s, at in seen.items() if now - at > 2 * WINDOW]:
            del seen[old]
        if signature in seen:
            return 409
        seen[signature] = now
    return 200


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = check(self.headers, body, time.time())
        raw = json.dumps({"status": status}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=9002)
    o = options.parse_args()
    server = ThreadingHTTPServer((o.host, o.port), Handler)
    print("listening on %s:%d" % server.server_address[:2], flush=True)
    server.serve_forever()
