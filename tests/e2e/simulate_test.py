"""allot simulate: what it reads, what it prints, and its exit codes."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from plane import BINARY

NODE = """
apiVersion: v1
kind: Node
metadata: {name: %s}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
DEVICES = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: d0}, {name: d1, nodeAllocatableResources: {cpu: {mapping: {deviceMultiplier: "4"}}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
  resourceClaims: [{name: x, resourceClaimTemplateName: t}]
"""
CLUSTER = "---".join([NODE % "n1", NODE % "n2", DEVICES, POD % "a", POD % "b"])
TYPED_LIST = json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [
    {"metadata": {"name": "q"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}]})
LIST = json.dumps({"kind": "List", "apiVersion": "v1", "items": [
    {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "1"}}},
    {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "q"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}]})
DEPLOYMENT = "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: d}\n"

RICH = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {extendedResourceName: example.com/gpu, selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: s0, allowMultipleAllocations: true, capacity: {memory: {value: 40Gi}}}
  - {name: d0}
  - {name: d1, nodeAllocatableResources: {cpu: {mapping: {deviceMultiplier: "1"}}}}
""" + "".join("""---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: %s}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu%s}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}, claims: [{name: x}]}}]
  resourceClaims: [{name: x, resourceClaimTemplateName: %s}]
""" % (name, more, name, name) for name, more in (
    ("share", ", selectors: [{cel: {expression: device.allowMultipleAllocations}}], capacity: {requests: {memory: 10Gi}}"),
    ("watch", ", adminAccess: true, selectors: [{cel: {expression: '!device.allowMultipleAllocations'}}]"))) + """---
apiVersion: v1
kind: Pod
metadata: {name: extended}
spec: {containers: [{name: c, image: i, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}}}]}
""" + "".join("""---
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}, claims: [{name: x}]}}]
  resourceClaims: [{name: x, resourceClaimTemplateName: one}]
""" % name for name in ("mapped", "late")) + """---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: '!device.allowMultipleAllocations'}}]}}]}}}
"""

# (arguments, standard input, exit code, part of stdout, part of stderr)
CASES = [
    (["-f", "-"], CLUSTER, 0, "2 of 2 pending pods placed; 2 nodes; 2 of 2 devices in use", ""),
    (["-f", "-"], CLUSTER + "---" + POD % "c", 3, "0/2 nodes are available: 2 cannot allocate all claims.", ""),
    (["-f", "-", "--gates", "DRANodeAllocatableResources=true"], CLUSTER, 3, "1 Insufficient cpu", ""),
    (["-f", "-", "--per-node", "n2"], CLUSTER, 3, "default/a: 0/1 nodes are available: 1 cannot allocate all claims.", ""),
    (["-f", "-", "--per-node", "n9"], CLUSTER, 1, "", 'there is no node "n9" among the objects'),
    (["-f", "-", "--gates", "DRASchedulerFilterTimeout=false"], CLUSTER, 0, "", "note: gate DRASchedulerFilterTimeout has no effect"),
    (["-f", "-"], CLUSTER.replace("  containers:", "  nodName: n1\n  containers:"), 0, "2 of 2", 'Pod a: unknown field "spec.nodName"'),
    (["-f", "-", "--profile", "packing"], CLUSTER, 0, "2 of 2 pending pods placed", ""),
    (["-f", "-"], LIST, 0, "1 of 1 pending pods placed", ""),
    (["-f", "-"], TYPED_LIST, 3, "no nodes available to schedule pods", ""),
    (["-f", "-", "-o", "yaml"], LIST, 0, "kind: Simulation", ""),
    (["-f", "-"], LIST + "\n", 0, "1 of 1", ""),
    (["-f", "-"], NODE % "n1" + "---\n" + DEPLOYMENT, 0, "0 of 0 pending pods placed", "note: left out: 1 Deployment"),
    (["-f", "-"], "", 1, "", "no nodes, pods, slices"),
    (["-f", "-"], "hello", 1, "", "standard input, document 1: not an object"),
    (["-f", "-"], "a: [", 1, "", "standard input: yaml: line"),
    (["-f", "-"], "kind: Pod\n", 1, "", "document 1: kind or apiVersion is missing"),
    (["-f", "-"], NODE % "n1" + "---\nkind: ResourceSlice\napiVersion: resource.k8s.io/v9\n", 1, "", "version v9 of resource.k8s.io is not known"),
    (["-f", "/nowhere.yaml"], "", 1, "", "/nowhere.yaml: No such file"),
    (["-f"], "", 2, "", "--filename: 1 required TEXT missing"),
    (["-f", "-", "-o", "wide"], "", 2, "", "not one of table, yaml, json"),
    (["-f", "-", "--profile", "best"], "", 2, "", "not one of compat, packing"),
    (["-f", "-", "--gates", "Foo=true"], "", 2, "", "unrecognized feature gate: Foo"),
    (["--all"], "", 2, "", "not expected: --all"),
    (["extra", "-f", "-"], "", 2, "", 'unexpected argument "extra"'),
    (["-f", "-", "--feature-gates", "DRANodeAllocatableResources=true"], CLUSTER, 3, "1 Insufficient cpu", ""),
    (["--cases", "-f", "x"], "", 2, "", "--cases reads standard input and takes no other flag"),
    (["--cases", "--per-node", "n1"], "", 2, "", "--cases reads standard input and takes no other flag"),
    (["--cases"], '{"id":"x"}', 1, '{"id":"x","outcome":"invalid"', "line 1: node is missing"),
    (["--cases"], "{", 1, '"outcome":"invalid"', "line 1: "),
    (["-f", "-"], LIST + LIST.replace('"q"', '"r"'), 3, "1 of 2 pending pods placed", ""),
    (["-f", "-"], CLUSTER + "---" + POD % "c", 3, "\nWhy, the most telling first:\n", ""),
    ([], "", 2, "", "nothing to read: use -f or --cases"),
]


def simulate(arguments, stdin=""):
    return subprocess.run([BINARY, "simulate", *arguments], input=stdin, capture_output=True, text=True, timeout=60)


class SimulateTest(unittest.TestCase):
    def test_cases(self):
        for arguments, stdin, code, out, err in CASES:
            with self.subTest(arguments=arguments, stdin=stdin[:60]):
                done = simulate(arguments, stdin)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(out, done.stdout)
                self.assertIn(err, done.stderr)

    def test_json_tells_what_was_allocated(self):
        done = simulate(["-f", "-", "-o", "json"], CLUSTER)
        pods = json.loads(done.stdout)["pods"]
        self.assertEqual([(pod["name"], pod["node"]) for pod in pods], [("a", "n1"), ("b", "n1")])
        results = pods[1]["claims"][0]["allocation"]["devices"]["results"]
        self.assertEqual(results, [{"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "d1"}])

    def test_all_forms_say_the_same(self):
        """Bindings, shares, consumed capacity, admin access, extended resources, node resources, refusals."""
        gates = ["--gates", "DRANodeAllocatableResources=true"]
        table = simulate(["-f", "-", *gates], RICH)
        tree = json.loads(simulate(["-f", "-", "-o", "json", *gates], RICH).stdout)
        as_yaml = simulate(["-f", "-", "-o", "yaml", *gates], RICH).stdout
        rows = {line.split()[1]: line.split() for line in table.stdout.splitlines() if line.startswith("default ")}
        self.assertEqual({pod["name"] for pod in tree["pods"]}, set(rows))
        for pod in tree["pods"]:
            row = rows[pod["name"]]
            self.assertEqual(row[2], pod.get("node", "<none>"))
            if not pod["placed"]:
                self.assertEqual(row[3:], ["<none>", "<none>"])
                self.assertIn(f"default/{pod['name']}: {pod['message']}", table.stdout)
                for cause in pod["causes"]:
                    self.assertIn(f"  {cause['kind']}: {cause['subject']}", table.stdout)
                    self.assertIn(f"  what helps:  {cause['hint']}", table.stdout)
                    self.assertIn(cause["hint"], as_yaml)
                continue
            devices = []
            for claim in pod["claims"]:
                for result in claim["allocation"]["devices"]["results"]:
                    more = [result["shareID"]] if "shareID" in result else []
                    more += [f"{name}={amount}" for name, amount in result.get("consumedCapacity", {}).items()]
                    more += ["admin"] if result.get("adminAccess") else []
                    devices.append(f"{result['driver']}/{result['pool']}/{result['device']}" + (f"[{','.join(more)}]" if more else ""))
            self.assertEqual(row[3], ",".join(devices) or "<none>")
        self.assertEqual(
            [rows[name][2:] for name in ("share", "watch", "extended", "mapped", "late")],
            [["n1", "gpu.example.com/n1/s0[share-1,memory=10Gi]", "<none>"], ["n1", "gpu.example.com/n1/d0[admin]", "<none>"],
             ["n1", "gpu.example.com/n1/d0", "<none>"], ["n1", "gpu.example.com/n1/d1", "cpu=1"], ["<none>", "<none>", "<none>"]])
        status = {pod["name"]: pod.get("status", {}) for pod in tree["pods"]}
        self.assertEqual(status["extended"]["extendedResourceClaimStatus"]["resourceClaimName"], "extended-extended-resources")
        self.assertEqual(status["mapped"]["nodeAllocatableResourceClaimStatuses"],
                         [{"resourceClaimName": "mapped-x", "containers": ["c"], "mapping": [{"name": "cpu", "quantity": "1"}]}])
        self.assertIn("\n    nodeAllocatableResourceClaimStatuses:\n", as_yaml)
        self.assertIn("holders: default/extended-extended-resources, default/mapped-x", table.stdout)

    def test_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("no .yaml, .yml or .json file", simulate(["-f", folder]).stderr)
            inner = pathlib.Path(folder, "deep")
            inner.mkdir()
            (inner / "cluster.yaml").write_text(CLUSTER)
            (inner / "notes.txt").write_text("not read")
            hidden = inner / ".git"
            hidden.mkdir()
            (hidden / "old.yaml").write_text(POD % "hidden")
            (inner / "values.yaml").write_text("replicas: 3\n")
            pathlib.Path(folder, "more.json").write_text(TYPED_LIST)
            done = simulate(["-f", folder])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("3 of 3 pending pods placed", done.stdout)
            self.assertEqual(done.stderr, f"warning: {inner}/values.yaml, document 1: kind or apiVersion is missing; left out\n")

    def test_what_cannot_be_read_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "gone.yaml").symlink_to("nowhere")
            done = simulate(["-f", folder])
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"warning: {folder}/gone.yaml: No such file or directory; left out\n", done.stderr)
            done = simulate(["-f", f"{folder}/gone.yaml"])
            self.assertEqual((done.returncode, done.stderr), (1, f"error: {folder}/gone.yaml: No such file or directory\n"))
            descriptor = os.open(folder, os.O_RDONLY)
            for arguments in (["simulate", "--cases"], ["simulate", "-f", "-"], ["cel", "eval", "--jsonl"], ["apply", "-f", "-"]):
                done = subprocess.run([BINARY, *arguments], stdin=descriptor, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (1, "error: standard input: Is a directory\n"), arguments)
            os.close(descriptor)

    def test_a_folder_that_cannot_be_read_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            closed = pathlib.Path(folder, "deep/closed")
            closed.mkdir(parents=True)
            closed.chmod(0)
            if os.access(closed, os.R_OK):
                self.skipTest("root reads every folder")
            for arguments in (["simulate", "-f", folder], ["apply", "-R", "-f", folder]):
                done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (1, f"error: {closed}: Permission denied\n"), arguments)

    def test_a_running_pod_holds_what_it_has(self):
        running = POD % "a" + "  nodeName: n1\nstatus: {resourceClaimStatuses: [{name: x, resourceClaimName: held}]}\n"
        held = """---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: held}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status: {allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: n1, device: d0}]}}}
"""
        done = simulate(["-f", "-"], "---".join([NODE % "n1", DEVICES, running]) + held + "---" + POD % "b" + "---" + POD % "c")
        self.assertEqual(done.returncode, 3)
        self.assertIn("1 of 2 pending pods placed; 1 nodes; 2 of 2 devices in use", done.stdout)


if __name__ == "__main__":
    unittest.main()
