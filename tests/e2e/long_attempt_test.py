"""A pod whose selectors cost minutes: its neighbours are placed meanwhile, and SIGTERM ends the process."""
import json
import time
import unittest

from plane import Plane

VALUES = str(list(range(1, 151)))
DEAR = f"{VALUES}.map(x, {VALUES}.filter(y, x * y < 100000)).size() > 0"  # cost 384,453
REQUEST = {"deviceClassName": "hog", "allocationMode": "ExactCount", "count": 1}


def hog():
    """256 devices, each of which passes 31 dear selectors and fails the last: 3,000 million of CEL cost."""
    yield {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "hog"},
           "spec": {"selectors": [{"cel": {"expression": 'device.driver == "hog.example.com"'}}]}}
    for n in range(2):
        yield {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"hog-{n}"},
               "spec": {"driver": "hog.example.com", "pool": {"name": "hog", "generation": 1, "resourceSliceCount": 2}, "allNodes": True,
                        "devices": [{"name": f"d{n}-{d}"} for d in range(128)]}}
    selectors = [f"{DEAR} && {n} < 31" for n in range(32)]
    yield {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "hog", "namespace": "default"},
           "spec": {"devices": {"requests": [{"name": "r", "exactly": dict(REQUEST, selectors=[
               {"cel": {"expression": selector}} for selector in selectors])}]}}}
    yield pod("hog", resourceClaims=[{"name": "x", "resourceClaimName": "hog"}])


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": dict({"containers": [{"name": "m", "image": "none"}]}, **spec)}


class LongAttemptTest(unittest.TestCase):
    def setUp(self):
        self.plane = Plane("small.yaml")

    def tearDown(self):
        self.plane.remove()

    def apply(self, *objects):
        self.plane.allot("apply", "-f", "-", stdin="\n---\n".join(json.dumps(one) for one in objects))

    def test_neighbours_are_placed_and_sigterm_ends_the_process(self):
        self.apply(*hog())
        self.plane.allot("wait", "--for=condition=PodScheduled=False", "pod/hog", "--timeout=20s")
        _, out, _ = self.plane.allot("get", "pod", "hog", "-o", "json")
        condition = next(one for one in json.loads(out)["status"]["conditions"] if one["type"] == "PodScheduled")
        self.assertEqual(condition["reason"], "SchedulerError")
        for part in ("claim default/hog, request r: the CEL cost of one scheduling attempt", "selector #", "384", "goes on from here"):
            self.assertIn(part, condition["message"])
        for n in range(5):
            self.apply(pod(f"neighbour-{n}"))
            started = time.monotonic()
            self.plane.allot("wait", "--for=condition=PodScheduled", f"pod/neighbour-{n}", "--timeout=20s")
            self.assertLess(time.monotonic() - started, 1.0)
            time.sleep(0.3)
        code, seconds = self.plane.stop()
        self.assertEqual(code, 0)
        self.assertLess(seconds, 2.0)


if __name__ == "__main__":
    unittest.main()
