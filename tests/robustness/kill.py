#!/usr/bin/env python3
"""kill -9 during a load of creates by 64 clients, over and over, on one data directory.

After every restart: each object whose create was acknowledged is there, no device is allocated to two claims, and
new pods get devices. usage: kill.py BINARY [ROUNDS] [SECONDS OF LOAD]
"""
import base64
import http.client
import json
import os
import random
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import yaml

CLIENTS = 64
NODES = 8
DEVICES = 8
NS = "/api/v1/namespaces/default"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


class Api:
    """One HTTPS connection with the admin's certificate."""

    def __init__(self, kubeconfig):
        config = yaml.safe_load(open(kubeconfig))
        server = config["clusters"][0]["cluster"]["server"]
        self.host, self.port = server.removeprefix("https://").rsplit(":", 1)
        user = config["users"][0]["user"]
        self.context = ssl.create_default_context(
            cadata=base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile(suffix=".pem") as pem:
            pem.write(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
            pem.flush()
            self.context.load_cert_chain(pem.name)
        self.connection = None
        self.last_error = ""

    def call(self, method, path, body=None):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(self.host, int(self.port), context=self.context, timeout=20)
        try:
            self.connection.request(method, path, json.dumps(body) if body is not None else None,
                                    {"content-type": "application/json"})
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.connection = None
            self.last_error = repr(error)
            return 0, None


def start(binary, folder):
    log = open(folder + "/log", "wb")
    process = subprocess.Popen([binary, "up", "--data", folder + "/data", "--listen", "127.0.0.1:0", "--kubeconfig",
                                folder + "/kubeconfig", "--fleet", "none", "--controllers", "*,-node-lifecycle-controller"],
                               stdout=log, stderr=subprocess.STDOUT)
    for _ in range(300):
        if b"allot is ready" in open(folder + "/log", "rb").read():
            return process
        if process.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit("the server did not start:\n" + open(folder + "/log").read())


def node(i):
    capacity = {"cpu": "1000", "memory": "1Ti", "pods": "10000"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"},
            "status": {"capacity": capacity, "allocatable": capacity,
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def node_slice(i):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"s{i}"},
            "spec": {"driver": "d.example.com", "nodeName": f"n{i}",
                     "pool": {"name": f"n{i}", "generation": 1, "resourceSliceCount": 1},
                     "devices": [{"name": f"d{k}"} for k in range(DEVICES)]}}


def claim(name):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}}


def pod(name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"claims": [{"name": "r"}]}}],
                     "resourceClaims": [{"name": "r", "resourceClaimName": name}]}}


def load(kubeconfig, prefix, stop, acknowledged, lock):
    """Creates claim and pod pairs and deletes some of its own again; notes what was acknowledged."""
    api = Api(kubeconfig)
    number = 0
    mine = []
    while not stop.is_set():
        name = f"{prefix}-{number}"
        number += 1
        for path, body in ((CLAIMS, claim(name)), (NS + "/pods", pod(name))):
            code, _ = api.call("POST", path, body)
            if code == 201:
                with lock:
                    acknowledged.add((path, name))
        mine.append(name)
        if len(mine) > 3:  # keep devices free for others
            old = mine.pop(0)
            with lock:
                acknowledged.discard((NS + "/pods", old))
                acknowledged.discard((CLAIMS, old))
            api.call("DELETE", NS + "/pods/" + old, {"gracePeriodSeconds": 0})
            api.call("DELETE", CLAIMS + "/" + old)


def check(kubeconfig, acknowledged):
    api = Api(kubeconfig)
    problems = []
    there = set()
    for path in (CLAIMS, NS + "/pods"):
        code, answer = api.call("GET", path)
        if code != 200:
            return [f"GET {path} answered {code} {api.last_error}"]
        there |= {(path, item["metadata"]["name"]) for item in answer["items"]}
        if path == CLAIMS:
            holders = {}
            for item in answer["items"]:
                for result in item.get("status", {}).get("allocation", {}).get("devices", {}).get("results", []):
                    key = (result["driver"], result["pool"], result["device"])
                    if key in holders:
                        problems.append(f"device {key} is allocated to {holders[key]} and {item['metadata']['name']}")
                    holders[key] = item["metadata"]["name"]
    lost = acknowledged - there
    if lost:
        problems.append(f"{len(lost)} acknowledged objects are lost, for example {sorted(lost)[:3]}")
    return problems


def goes_on(kubeconfig, name):
    """A new pod with a claim is bound once the pods before it are gone."""
    api = Api(kubeconfig)
    code, pods = api.call("GET", NS + "/pods")
    if code != 200:
        return [f"GET pods answered {code} {api.last_error}"]
    for item in pods["items"]:
        api.call("DELETE", NS + "/pods/" + item["metadata"]["name"], {"gracePeriodSeconds": 0})
    api.call("POST", CLAIMS, claim(name))
    api.call("POST", NS + "/pods", pod(name))
    for _ in range(200):
        _, item = api.call("GET", NS + "/pods/" + name)
        if item and item.get("spec", {}).get("nodeName"):
            return []
        time.sleep(0.1)
    return [f"pod {name} was not bound within 20 s: {json.dumps((item or {}).get('status'))}"]


def main():
    binary = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    random.seed(7)
    failed = 0
    acknowledged, lock = set(), threading.Lock()
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = folder + "/kubeconfig"
        process = start(binary, folder)
        api = Api(kubeconfig)
        for i in range(NODES):
            api.call("POST", "/api/v1/nodes", node(i))
            api.call("POST", "/apis/resource.k8s.io/v1/resourceslices", node_slice(i))
        api.call("POST", "/apis/resource.k8s.io/v1/deviceclasses",
                 {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}})
        for number in range(rounds):
            stop = threading.Event()
            threads = [threading.Thread(target=load, args=(kubeconfig, f"r{number}-{i}", stop, acknowledged, lock))
                       for i in range(CLIENTS)]
            for thread in threads:
                thread.start()
            time.sleep(seconds * random.uniform(0.3, 1.0))
            process.send_signal(signal.SIGKILL)
            process.wait()
            stop.set()
            for thread in threads:
                thread.join()
            process = start(binary, folder)
            problems = check(kubeconfig, acknowledged)
            if process.poll() is not None:
                sys.exit(f"round {number + 1}: the server ended by itself with {process.returncode}: " + "; ".join(problems))
            problems += goes_on(kubeconfig, f"after-{number}")
            api = Api(kubeconfig)
            _, pods = api.call("GET", NS + "/pods")
            for item in pods["items"]:
                api.call("DELETE", NS + "/pods/" + item["metadata"]["name"], {"gracePeriodSeconds": 0})
            _, claims = api.call("GET", CLAIMS)
            for item in claims["items"]:
                api.call("DELETE", CLAIMS + "/" + item["metadata"]["name"])
            with lock:
                count = len(acknowledged)
                acknowledged.clear()
            print(f"round {number + 1}/{rounds}: {count} acknowledged objects checked"
                  + "".join("\n  " + p for p in problems), flush=True)
            failed += bool(problems)
        process.terminate()
        process.wait()
    print(f"{rounds - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
