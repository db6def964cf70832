#!/usr/bin/env python3
"""Connections by the thousand against one `allot up`: idle ones, floods beyond the descriptor limit, half-sent requests, slow readers.

Through all of it the server must stay, keep its memory and answer a well-behaved client at once.
usage: connections.py BINARY [idle|flood|busy|half|slow ...]   (default: all)
"""
import json
import os
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time

from kill import Api

IDLE = 10_000
# Bytes of the server's memory an idle connection may take: TLS state, HTTP/2 state, no buffers.
IDLE_BYTES = 48 * 1024
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


class Server:
    """One `allot up`, with a descriptor limit of its own when asked for."""

    def __init__(self, binary, descriptors=0):
        self.folder = tempfile.TemporaryDirectory()
        kubeconfig = self.folder.name + "/kubeconfig"
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))) if descriptors else None
        self.log = self.folder.name + "/log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([binary, "up", "--data", self.folder.name + "/data", "--listen", "127.0.0.1:0",
                                             "--kubeconfig", kubeconfig, "--fleet", "none"],
                                            stdout=log, stderr=subprocess.STDOUT, preexec_fn=limit)
        deadline = time.monotonic() + 20
        while b"allot is ready" not in open(self.log, "rb").read():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the server did not start:\n" + open(self.log).read())
            time.sleep(0.05)
        self.api = Api(kubeconfig)
        self.context = self.api.context
        self.address = (self.api.host, int(self.api.port))
        self.kubeconfig = kubeconfig

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def tcp(self, number=0):
        """A connection from one of many source addresses: 127.0.0.0/8 is all ours."""
        peer = socket.socket()
        peer.settimeout(20)
        peer.bind((f"127.0.{1 + number // 20_000}.1", 0))
        peer.connect(self.address)
        return peer

    def tls(self, number=0, protocol="http/1.1"):
        self.context.set_alpn_protocols([protocol])
        return self.context.wrap_socket(self.tcp(number), server_hostname=self.address[0])

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=30)
        self.folder.cleanup()
        return code


class Report:
    def __init__(self):
        self.failed = 0

    def expect(self, good, text):
        print(("  ok      " if good else "  FAILED  ") + text, flush=True)
        self.failed += not good

    def answers(self, server, what, within=2.0):
        """A new client with a connection of its own reads and writes."""
        api = Api(server.kubeconfig)
        started = time.monotonic()
        read, _ = api.call("GET", "/api/v1/namespaces/default")
        name = f"c{time.monotonic_ns()}"
        write, _ = api.call("POST", CONFIGMAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
        took = time.monotonic() - started
        self.expect((read, write) == (200, 201) and took < within,
                    f"{what}: read {read}, write {write} {api.last_error}in {took * 1000:.0f} ms")

    def gone(self, server):
        """The server is there, has not spun, and ends as it should."""
        before = server.cpu()
        time.sleep(1)
        self.expect(server.cpu() - before < 0.3, f"rest afterwards: {server.cpu() - before:.2f} s of CPU in a second")
        code = server.stop()
        self.expect(code == 0, f"SIGTERM: the server ended with {code}")


def ask(peer, path="/healthz"):
    peer.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    return peer.recv(4096)


def closed(peer):
    """Whether the server has closed the connection."""
    try:
        peer.settimeout(0.01)
        while True:
            if not peer.recv(65536):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True


def idle(binary, report):
    """10,000 idle TLS connections at once: a third after an answer, a third HTTP/2, a third after the handshake."""
    server = Server(binary)
    report.answers(server, "before")
    time.sleep(0.5)  # until that client's connection is gone
    memory, descriptors, started = server.memory(), server.descriptors(), time.monotonic()
    peers = []
    for number in range(IDLE):
        peer = server.tls(number, "h2" if number % 3 == 1 else "http/1.1")
        if number % 3 == 0:
            ask(peer)
        elif number % 3 == 1:
            peer.sendall(PREFACE)
        peers.append(peer)
    took = time.monotonic() - started
    held = server.descriptors() - descriptors
    each = (server.memory() - memory) / IDLE
    report.expect(held >= IDLE, f"{held} connections held at once, opened in {took:.0f} s")
    report.expect(each < IDLE_BYTES, f"memory: {memory >> 20} to {server.memory() >> 20} MiB, {each / 1024:.1f} KiB a connection")
    report.answers(server, "with all of them open")
    sample = peers[::99]  # of the third that has had an answer
    live = sum(b"200 OK" in ask(peer) for peer in sample)
    report.expect(live == len(sample), f"{live} of {len(sample)} are still answered")
    for peer in peers:
        peer.close()
    deadline = time.monotonic() + 10
    while server.descriptors() > descriptors + 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    report.expect(server.descriptors() <= descriptors + 5, f"{server.descriptors() - descriptors} descriptors left after they closed")
    report.gone(server)


def flood(binary, report):
    """Connections far beyond the descriptor limit: the longest idle ones make room, nobody crashes."""
    for descriptors in (64, 512, 1024):
        server = Server(binary, descriptors)
        peers, refused = [], 0
        for number in range(3 * descriptors):
            try:
                peers.append(server.tls(number) if number % 2 else server.tcp(number))
            except OSError:
                refused += 1
            if number % descriptors == descriptors - 1:
                report.answers(server, f"limit {descriptors}, {number + 1} connections")
        report.expect(server.descriptors() < descriptors, f"{server.descriptors()} descriptors open, {refused} refused")
        for peer in peers:
            peer.close()
        report.answers(server, "after the flood")
        report.gone(server)


def busy(binary, report):
    """Every connection the limit allows holds a watch: the next ones are turned away, the held ones go on."""
    server = Server(binary, 512)
    api = Api(server.kubeconfig)
    api.call("GET", "/healthz")
    watchers, refused = [], 0
    for number in range(600):
        try:
            peer = server.tls(number)
            if b"200 OK" in ask(peer, CONFIGMAPS + "?watch=1"):
                watchers.append(peer)
            else:
                refused += 1
        except OSError:
            refused += 1
    report.expect(len(watchers) >= 200 and refused >= 200, f"{len(watchers)} watches held, {refused} connections turned away")
    name = "seen-by-all"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    watchers.pop().close()  # room for one
    time.sleep(0.2)
    code, _ = Api(server.kubeconfig).call("POST", CONFIGMAPS, body)
    report.expect(code == 201, f"a freed place is taken: create {code}")
    seen = 0
    for peer in watchers:
        peer.settimeout(5)
        try:
            text = b""
            while name.encode() not in text:
                piece = peer.recv(65536)
                if not piece:
                    break
                text += piece
            seen += name.encode() in text
        except OSError:
            pass
    report.expect(seen == len(watchers), f"{seen} of {len(watchers)} watchers saw the new object")
    for peer in watchers:
        peer.close()
    time.sleep(0.2)
    report.answers(server, "after the watchers")
    report.gone(server)


def half(binary, report):
    """Requests that are begun and not finished, by TLS and without: given up in time, and nobody waits for them."""
    server = Server(binary)
    body = (f"POST {CONFIGMAPS} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n" + '{"api').encode()
    kinds = {
        "nothing at all": (False, "", b""),
        "half a handshake": (False, "", b"\x16\x03\x01\x02\x00\x01"),
        "half a header": (True, "http/1.1", b"GET /healthz HTTP/1.1\r\nHos"),
        "half a body": (True, "http/1.1", body),
        "half a preface": (True, "h2", PREFACE[:9]),
        "half a frame": (True, "h2", PREFACE + b"\0\0\x20\1\4\0\0\0\1\x82"),
    }
    started = time.monotonic()
    peers = {}
    for kind, (tls, protocol, begun) in kinds.items():
        peers[kind] = []
        for number in range(100):
            peer = server.tls(number, protocol) if tls else server.tcp(number)
            peer.sendall(begun)
            peers[kind].append(peer)
    drip = [server.tls(number) for number in range(100)]
    report.answers(server, "700 half-sent requests")
    text = b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 1000
    alive_at = {}
    sent = 0
    while time.monotonic() - started < 110 and len(alive_at) < len(kinds) + 1:
        for peer in drip:  # a byte a second is not progress enough
            try:
                peer.send(text[sent:sent + 1])
            except OSError:
                pass
        sent += 1
        for kind, held in [*peers.items(), ("a byte a second", drip)]:
            if kind not in alive_at and all(closed(peer) for peer in held[::10]):
                alive_at[kind] = time.monotonic() - started
        time.sleep(1)
    for kind in [*kinds, "a byte a second"]:
        report.expect(kind in alive_at, f"{kind}: given up after {alive_at.get(kind, float('nan')):.0f} s")
    report.answers(server, "afterwards")
    report.gone(server)


def slow(binary, report):
    """Lists and watches that are not read: bounded memory, and others are served as before."""
    server = Server(binary)
    data = {"text": "x" * 20_000}
    for number in range(1000):
        server.api.call("POST", CONFIGMAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"big{number}"}, "data": data})
    memory = server.memory()
    lists = [server.tls(number) for number in range(100)]
    watches = [server.tls(number) for number in range(100)]
    reader, *stalled = lists
    for peer in stalled:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for peer in lists:
        peer.sendall(f"GET {CONFIGMAPS} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    for peer in watches:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.sendall(f"GET {CONFIGMAPS}?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    times = []
    for number in range(500):
        started = time.monotonic()
        code, _ = server.api.call("PUT", f"{CONFIGMAPS}/big{number}", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"big{number}"}, "data": {"n": str(number), **data}})
        times.append(time.monotonic() - started)
        if code != 200:
            report.expect(False, f"update answered {code}")
            break
    times.sort()
    each = (server.memory() - memory) / 200
    # At most 1 MiB a stalled watcher, and lists are written as they are read.
    report.expect(each < 1 << 20, f"memory: {memory >> 20} to {server.memory() >> 20} MiB with 100 lists and 100 watches of 20 MB unread")
    report.expect(times[-5] < 0.5, f"500 updates beside them: p50 {times[250] * 1000:.1f} ms, p99 {times[-5] * 1000:.1f} ms")
    taken, deadline = 0, time.monotonic() + 60
    reader.settimeout(20)
    while taken < 20_000_000 and time.monotonic() < deadline:
        piece = reader.recv(1 << 20)
        if not piece:
            break
        taken += len(piece)
    report.expect(taken >= 20_000_000, f"a slow list goes on when it is read: {taken} bytes")
    for peer in lists + watches:
        peer.close()
    report.answers(server, "afterwards")
    report.gone(server)


def main():
    binary = sys.argv[1]
    parts = {"idle": idle, "flood": flood, "busy": busy, "half": half, "slow": slow}
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    report = Report()
    for name in sys.argv[2:] or parts:
        if name == "idle" and hard < IDLE + 1000:
            print(f"idle: skipped, it needs {IDLE + 1000} descriptors and this user may have {hard}")
            continue
        print(f"{name}: {parts[name].__doc__}", flush=True)
        parts[name](binary, report)
    print("all passed" if report.failed == 0 else f"{report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
