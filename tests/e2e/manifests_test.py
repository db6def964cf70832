"""Public manifests and captured ResourceSlices on a running control plane, as people would apply them.

They are others' work and not part of this project: they are read from ../shared/data (or $ALLOT_SHARED/data) and the tests are
skipped where that is absent.
"""
import json
import os
import pathlib
import unittest

import yaml

from plane import Plane, ROOT

DATA = pathlib.Path(os.environ.get("ALLOT_SHARED", ROOT.parent / "shared")) / "data"
WITHOUT_NODES = ("--controllers", "*,-node-lifecycle-controller")
NVIDIA_CLASSES = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec:
  selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"}}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: mig.nvidia.com}
spec:
  selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'mig'"}}]
"""


def documents(text):
    """All objects of a YAML text, Lists taken apart, as a list."""
    out = []
    for document in yaml.safe_load_all(text):
        out += document["items"] if document and "items" in document else [document] if document else []
    return out


def manifest(prefix):
    found = sorted((DATA / "manifests").glob(prefix + "-*.yaml"))
    assert len(found) == 1, f"{prefix}: {found}"
    return documents(found[0].read_text())


def slices(name):
    return documents((DATA / "slices" / name).read_text())


def node(name):
    capacity = {"cpu": "96", "memory": "1Ti", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"capacity": capacity, "allocatable": capacity, "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, template=None, claim=None, namespace="default"):
    source = {"resourceClaimTemplateName": template} if template else {"resourceClaimName": claim}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": {"containers": [{"name": "c", "image": "busybox", "resources": {"claims": [{"name": "d"}]}}],
                     "resourceClaims": [dict(source, name="d")]}}


def template(name, requests, **more):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": name, "namespace": "default"},
            "spec": {"spec": {"devices": dict(requests=requests, **more)}}}


def request(name, device_class, *expressions, **more):
    exactly = dict(deviceClassName=device_class, **more)
    if expressions:
        exactly["selectors"] = [{"cel": {"expression": e}} for e in expressions]
    return {"name": name, "exactly": exactly}


@unittest.skipUnless(DATA.is_dir(), f"no public manifests (looked for {DATA})")
class ManifestsTest(unittest.TestCase):
    def start(self, fleet="none", flags=WITHOUT_NODES):
        plane = Plane(fleet, flags)
        self.addCleanup(plane.remove)
        return plane

    def apply(self, plane, *objects, check=True):
        text = "\n---\n".join(o if isinstance(o, str) else yaml.safe_dump(o) for o in objects)
        return plane.allot("apply", "-f", "-", stdin=text, check=check)

    def get(self, plane, *words):
        return json.loads(plane.allot("get", *words, "-o", "json")[1])

    def wait_scheduled(self, plane, name, namespace="default", status="True"):
        plane.allot("wait", f"--for=condition=PodScheduled={status}", f"pod/{name}", "-n", namespace, "--timeout=20s")

    def devices(self, plane, namespace="default"):
        """The allocated devices of a namespace's claims: {claim's pod: [device]}."""
        out = {}
        for claim in self.get(plane, "resourceclaims", "-n", namespace)["items"]:
            results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
            for user in claim.get("status", {}).get("reservedFor", [{"name": None}]):
                out[user["name"]] = [result["device"] for result in results]
        return out

    def test_captured_slices_give_an_aligned_gpu_and_nic(self):
        plane = self.start()
        captured = manifest("01") + manifest("02")
        for each in captured:
            each["metadata"] = {"name": each["metadata"]["name"]}
            each.pop("status", None)
        nodes = [node(name) for name in sorted({each["spec"]["nodeName"] for each in captured})]
        self.apply(plane, *nodes, *captured, NVIDIA_CLASSES, *manifest("03"), *manifest("04"))
        self.apply(plane, pod("aligned", "gpu-efa-aligned"), pod("unaligned", "gpu-efa-unaligned"))
        self.wait_scheduled(plane, "aligned")
        self.wait_scheduled(plane, "unaligned")
        roots = {d["name"]: d["attributes"]["resource.kubernetes.io/pcieRoot"]["string"]
                 for s in captured for d in s["spec"]["devices"] if "resource.kubernetes.io/pcieRoot" in d.get("attributes", {})}
        self.assertEqual(len({roots[d] for d in self.devices(plane)["aligned"]}), 1)
        self.assertEqual(len(self.devices(plane)["unaligned"]), 2)

    def test_the_example_drivers_demos_run_unmodified(self):
        plane = self.start("example-driver.yaml", ())
        for number, namespace, pods in (("17", "admin-access", ["pod0"]), ("18", "cel-selector", ["pod0"])):
            self.apply(plane, *manifest(number))
            for name in pods:
                plane.allot("wait", "--for=jsonpath={.status.phase}=Running", f"pod/{name}", "-n", namespace, "--timeout=30s")
        claim = self.get(plane, "resourceclaims", "-n", "admin-access")["items"][0]
        results = claim["status"]["allocation"]["devices"]["results"]
        self.assertEqual([result.get("adminAccess") for result in results], [True] * 8)
        self.apply(plane, *(each for each in manifest("20") if each["kind"] != "DeviceTaintRule"))
        for name in ("pod-no-toleration", "pod-with-toleration", "pod-with-300s-toleration"):
            plane.allot("wait", "--for=jsonpath={.status.phase}=Running", f"pod/{name}", "-n", "basic-resourceclaimtemplate", "--timeout=30s")

    def test_prioritized_alternatives_fall_back_and_prefer(self):
        plane = self.start("example-driver.yaml", ())
        self.apply(plane, *manifest("12"))
        for name in ("pod0", "pod1"):
            plane.allot("wait", "--for=jsonpath={.status.phase}=Running", f"pod/{name}", "-n", "prioritized-alternatives", "--timeout=30s")
        chosen = {claim["status"]["reservedFor"][0]["name"]: [r["request"] for r in claim["status"]["allocation"]["devices"]["results"]]
                  for claim in self.get(plane, "resourceclaims", "-n", "prioritized-alternatives")["items"]}
        self.assertEqual(chosen, {"pod0": ["gpu/older-gpu"], "pod1": ["gpu/latest-gpu"]})

    def test_seven_small_partitions_of_one_card_and_no_eighth(self):
        plane = self.start()
        published = slices("h100-mig-dynamic.yaml")
        self.apply(plane, *(node(name) for name in sorted({s["spec"]["nodeName"] for s in published})), *published, NVIDIA_CLASSES,
                   template("one", [request("r", "mig.nvidia.com", "device.attributes['gpu.nvidia.com'].profile == '1g.10gb'")]),
                   *(pod(f"p{i}", "one") for i in range(1, 8)))
        for i in range(1, 8):
            self.wait_scheduled(plane, f"p{i}")
        self.assertEqual(len({device for used in self.devices(plane).values() for device in used}), 7)
        self.apply(plane, pod("p8", "one"))
        self.wait_scheduled(plane, "p8", status="False")
        conditions = self.get(plane, "pod", "p8")["status"]["conditions"]
        self.assertIn("0/1 nodes are available: 1 cannot allocate all claims.", conditions[0]["message"])
        self.assertIn("is held by claim", plane.allot("explain", "pod/p8")[1])

    def test_a_bare_pod_of_the_mig_demo_gets_four_partitions_of_one_gpu(self):
        plane = self.start()
        published = slices("a100-40-static-mig.yaml")
        self.apply(plane, *(node(name) for name in sorted({s["spec"]["nodeName"] for s in published})), *published, NVIDIA_CLASSES)
        objects = manifest("22")
        spec = next(o for o in objects if o["kind"] == "Deployment")["spec"]["template"]["spec"]
        bare = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": "gpu-test4"}, "spec": spec}
        self.apply(plane, *(o for o in objects if o["kind"] != "Deployment"), bare)
        self.wait_scheduled(plane, "bare", "gpu-test4")
        devices = self.devices(plane, "gpu-test4")["bare"]
        parents = {d["name"]: d["attributes"]["parentUUID"]["string"] for s in published for d in s["spec"]["devices"]
                   if "parentUUID" in d["attributes"]}
        self.assertEqual((len(set(devices)), len({parents[d] for d in devices})), (4, 1), devices)

    def test_whole_h100_and_static_partition(self):
        plane = self.start()
        published = slices("h100-full.yaml") + slices("a100-40-static-mig.yaml")
        self.apply(plane, *(node(name) for name in sorted({s["spec"]["nodeName"] for s in published})), *published, NVIDIA_CLASSES)
        self.apply(plane,
                   template("whole", [request("gpu", "gpu.nvidia.com", "device.attributes['gpu.nvidia.com'].productName.contains('H100')")]),
                   template("small", [request("gpu", "mig.nvidia.com", "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'")]),
                   pod("whole", "whole"), pod("small", "small"))
        self.wait_scheduled(plane, "whole")
        self.wait_scheduled(plane, "small")
        devices = self.devices(plane)
        self.assertEqual(len(devices["whole"]), 1)
        self.assertIn("1g5gb", devices["small"][0])

    def test_partitionable_slices_are_stored_and_read_back(self):
        plane = self.start()
        published = slices("h100-mig-dynamic.yaml")
        self.apply(plane, *published)
        for each in published:
            stored = self.get(plane, "resourceslice", each["metadata"]["name"])
            self.assertEqual(stored["spec"]["pool"], each["spec"]["pool"])
            for key in ("devices", "sharedCounters"):
                self.assertEqual(len(stored["spec"].get(key, [])), len(each["spec"].get(key, [])), key)

    def test_the_extended_resource_class_is_accepted(self):
        plane = self.start()
        device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu.example.com"},
                        "spec": {"extendedResourceName": "example.com/gpu", "selectors": [{"cel": {"expression":
                                 "device.driver == 'gpu.example.com' &&\ndevice.attributes['gpu.example.com'].type == 'gpu'\n"}}]}}
        self.apply(plane, device_class)
        self.assertEqual(self.get(plane, "deviceclass", "gpu.example.com")["spec"]["extendedResourceName"], "example.com/gpu")

    def test_the_flat_request_of_the_first_beta_is_refused_with_its_paths(self):
        plane = self.start()
        flat = template("h100-gpu-claim", [{"name": "gpu", "deviceClassName": "gpu.nvidia.com",
                                            "selectors": [{"cel": {"expression": "true"}}]}])
        path = "spec.spec.devices.requests[0]"
        cases = (("strict", ["strict decoding error", f'unknown field "{path}.deviceClassName", unknown field "{path}.selectors"']),
                 ("ignore", [f"{path}: Required value: exactly one of `exactly` or `firstAvailable` is required"]))
        for validate, texts in cases:
            code, _, err = plane.allot("apply", f"--validate={validate}", "-f", "-", stdin=yaml.safe_dump(flat), check=False)
            self.assertEqual(code, 1, err)
            for text in texts:
                self.assertIn(text, err)


if __name__ == "__main__":
    unittest.main()
