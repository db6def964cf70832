"""Every real kubectl found against a control plane with the example driver's fleet, without warnings or retries."""
import json
import os
import subprocess
import threading
import unittest

from plane import Plane, ROOT

KINDS = ["namespaces", "nodes", "pods", "events", "configmaps", "secrets", "serviceaccounts", "leases", "events.events.k8s.io",
         "resourceclaims", "resourceclaimtemplates", "resourceslices", "deviceclasses"]
CLUSTER_SCOPED = {"namespaces", "nodes", "resourceslices", "deviceclasses"}

OBJECTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: cm, namespace: default}
data: {a: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: se, namespace: default}
stringData: {a: b}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default, labels: {app: p}}
spec:
  containers: [{name: c, image: busybox, command: [sleep, infinity], resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
"""


class KubectlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kubectls = os.environ.get("ALLOT_KUBECTLS", "").split()
        if not cls.kubectls:
            raise unittest.SkipTest("no kubectl found")
        cls.plane = Plane("example-driver.yaml")

    @classmethod
    def tearDownClass(cls):
        cls.plane.remove()

    def each(self):
        """One runner for each kubectl, its program as the attribute `program`."""
        runners = []
        for program in self.kubectls:
            def run(*arguments, _program=program, **options):
                return self.plane.run(_program, *arguments, **options)
            run.program = program
            runners.append(run)
        return runners

    def quiet(self, kubectl, *arguments, **options):
        """Runs kubectl and demands that it has nothing to say on standard error."""
        _, out, err = kubectl(*arguments, **options)
        err = "\n".join(line for line in err.splitlines() if "version difference" not in line)
        self.assertEqual(err, "", f"{kubectl.program} {' '.join(arguments)}")
        return out

    def test_a_whole_life(self):
        for kubectl in self.each():
            out = self.quiet(kubectl, "apply", "-f", "-", stdin=OBJECTS)
            self.assertEqual(out.count("created"), 4, out)
            self.quiet(kubectl, "wait", "--for=condition=Ready", "pod/p", "--timeout=30s")
            out = self.quiet(kubectl, "apply", "-f", "-", stdin=OBJECTS)
            self.assertEqual(out.count("unchanged") + out.count("configured"), 4, out)
            self.assertIn("p ", self.quiet(kubectl, "get", "pods"))
            self.assertIn("allocated,reserved", self.quiet(kubectl, "get", "resourceclaims"))
            self.assertIn("sim-0", self.quiet(kubectl, "get", "pods", "-o", "wide"))
            for form in ("yaml", "json", "name", "wide", "jsonpath={.items[*].metadata.name}",
                         "custom-columns=N:.metadata.name"):
                for kind in KINDS:
                    everywhere = [] if kind in CLUSTER_SCOPED else ["-A"]
                    self.quiet(kubectl, "get", kind, *everywhere, "-o", form)
            self.quiet(kubectl, "label", "pod", "p", "color=blue")
            self.quiet(kubectl, "annotate", "pod", "p", "note=x")
            self.assertIn("p", self.quiet(kubectl, "get", "pods", "-l", "color=blue", "-o", "name"))
            self.quiet(kubectl, "patch", "configmap", "cm", "-p", '{"data":{"b":"2"}}')
            self.quiet(kubectl, "patch", "configmap", "cm", "--type=merge", "-p", '{"data":{"c":"3"}}')
            self.quiet(kubectl, "patch", "configmap", "cm", "--type=json", "-p", '[{"op":"remove","path":"/data/b"}]')
            data = json.loads(self.quiet(kubectl, "get", "configmap", "cm", "-o", "json"))["data"]
            self.assertEqual(data, {"a": "1", "c": "3"})
            edited = self.quiet(kubectl, "get", "configmap", "cm", "-o", "yaml").replace("'3'", "'4'").replace('"3"', '"4"')
            self.quiet(kubectl, "replace", "-f", "-", stdin=edited)
            for kind in ("pod/p", "configmap/cm", "secret/se", "resourceclaimtemplate/one", "node/sim-0", "deviceclass/gpu.example.com"):
                self.assertIn(kind.split("/")[1], self.quiet(kubectl, "describe", kind))
            self.assertIn("Scheduled", self.quiet(kubectl, "describe", "pod", "p"))
            self.quiet(kubectl, "delete", "pod", "p")
            self.quiet(kubectl, "wait", "--for=delete", "pod/p", "--timeout=20s")
            self.quiet(kubectl, "delete", "configmap/cm", "secret/se", "resourceclaimtemplate/one")

    def test_discovery_and_explain(self):
        for kubectl in self.each():
            out = self.quiet(kubectl, "api-resources")
            for name in ("resourceclaims", "deviceclasses", "pods", "leases"):
                self.assertIn(name, out)
            self.quiet(kubectl, "api-versions")
            out = self.quiet(kubectl, "explain", "--recursive", "resourceclaim")
            self.assertIn("deviceClassName", out)
            self.assertIn("count", self.quiet(kubectl, "explain", "resourceclaim.spec.devices.requests.exactly"))
            self.quiet(kubectl, "version", "-o", "json")

    def test_watch(self):
        for kubectl in self.each():
            name = "w"
            lines = []
            watch = subprocess.Popen([kubectl.program, "get", "configmaps", "-w", "-o", "name"], stdout=subprocess.PIPE, text=True,
                                     env=dict(os.environ, KUBECONFIG=self.plane.kubeconfig, HOME=self.plane.folder))
            seen = threading.Event()

            def read():
                for line in watch.stdout:
                    lines.append(line)
                    if line.strip() == "configmap/" + name:
                        seen.set()
            thread = threading.Thread(target=read, daemon=True)
            thread.start()
            seen.wait(1)
            kubectl("create", "configmap", name, "--from-literal=a=b")
            self.assertTrue(seen.wait(10), lines)
            watch.terminate()
            watch.wait()
            watch.stdout.close()
            kubectl("delete", "configmap", name)

    def test_unknown_fields_are_refused_with_their_path(self):
        for kubectl in self.each():
            code, _, err = kubectl("apply", "-f", "-", check=False, stdin=OBJECTS.replace("deviceClassName", "deviceClass"))
            self.assertNotEqual(code, 0)
            self.assertIn('unknown field "spec.spec.devices.requests[0].exactly.deviceClass"', err)
            kubectl("delete", "-f", "-", "--ignore-not-found", stdin=OBJECTS, check=False)


if __name__ == "__main__":
    unittest.main()
