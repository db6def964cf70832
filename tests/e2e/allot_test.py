"""The verbs of allot itself against a control plane with the small fleet."""
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

from plane import BINARY, Plane, ROOT


class AllotTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = Plane("small.yaml")

    @classmethod
    def tearDownClass(cls):
        code, seconds = cls.plane.stop()
        cls.plane.remove()
        assert code == 0, f"SIGTERM ended with {code}"
        assert seconds < 2, f"SIGTERM took {seconds:.1f} s"

    def test_quickstart(self):
        allot = self.plane.allot
        _, out, err = allot("apply", "-f", str(ROOT / "examples/quickstart"))
        self.assertEqual((out.count("created"), err), (5, ""), out)
        allot("wait", "--for=jsonpath={.status.phase}=Running", "pod", "--all", "--timeout=30s")
        _, out, _ = allot("get", "pods,resourceclaims")
        self.assertIn("pod/train-a", out)
        self.assertIn("allocated,reserved", out)
        _, out, _ = allot("get", "devices")
        self.assertEqual(out.count("Allocated"), 4, out)
        self.assertEqual(out.count("Free"), 28, out)
        _, out, _ = allot("get", "devices", "-o", "json")
        self.assertEqual(len(json.loads(out)["items"]), 32)
        _, out, _ = allot("get", "pools")
        self.assertEqual(out.count("true"), 4, out)
        _, out, _ = allot("get", "resourceclaim", "two-gpus-one-numa", "-o", "jsonpath={.status.devices[*].device}")
        self.assertEqual(len(out.split()), 2, out)
        _, out, _ = allot("describe", "pod", "infer")
        self.assertIn("Scheduled", out)
        _, out, _ = allot("explain", "pod/infer")
        self.assertIn("h100-", out)
        allot("apply", "-f", str(ROOT / "examples/pending.yaml"))
        allot("wait", "--for=condition=PodScheduled=False", "pod/too-big", "--timeout=20s")
        _, out, _ = allot("explain", "pod/too-big")
        for word in ("nine-gpus", "gpus", "8"):
            self.assertIn(word, out)
        _, out, _ = allot("apply", "-f", str(ROOT / "examples/quickstart"))
        self.assertEqual(out.count("unchanged"), 5, out)
        _, out, _ = allot("delete", "-f", str(ROOT / "examples/pending.yaml"), "-f", str(ROOT / "examples/quickstart"))
        self.assertEqual(out.count("deleted"), 7, out)
        code, _, err = allot("get", "pods")
        self.assertEqual((code, err), (0, "No resources found in default namespace.\n"))

    def test_what_is_written_is_for_its_owner_only(self):
        folder = pathlib.Path(self.plane.folder)
        written = [self.plane.kubeconfig, *(path for path in (folder / "data").rglob("*"))]
        self.assertGreater(len(written), 8)
        for path in written:
            self.assertEqual(os.stat(path).st_mode & 0o077, 0, path)

    def test_apply_changes_one_field_and_keeps_what_others_added(self):
        pod = "{apiVersion: v1, kind: Pod, metadata: {name: image, namespace: default}, spec: {containers: [{name: c, image: 'x:%d'}]}}"
        allot = self.plane.allot
        self.assertIn("created", allot("apply", "-f", "-", stdin=pod % 1)[1])
        _, before, _ = allot("get", "pod", "image", "-o", "json")
        self.assertIn("configured", allot("apply", "-f", "-", stdin=pod % 2)[1])
        self.assertIn("unchanged", allot("apply", "-f", "-", stdin=pod % 2)[1])
        _, after, _ = allot("get", "pod", "image", "-o", "json")
        old, new = (json.loads(text)["spec"]["containers"][0] for text in (before, after))
        self.assertEqual((old["image"], new["image"]), ("x:1", "x:2"))
        self.assertEqual(old.get("volumeMounts"), new.get("volumeMounts"))
        allot("delete", "pod", "image", "--now")

    def test_describe_shows_all_namespaces_all_lines_and_no_control_characters(self):
        lines = '{apiVersion: v1, kind: ConfigMap, metadata: {name: lines, namespace: kube-system}, data: {text: "one\\ntwo\\e[31m"}}'
        allot = self.plane.allot
        allot("apply", "-n", "kube-system", "-f", "-", stdin=lines)
        _, out, _ = allot("describe", "configmaps", "-A")
        for text in ("kube-root-ca.crt", "kube-system", "    one\n    two^[[31m"):
            self.assertIn(text, out)
        self.assertNotIn("\x1b", out)
        code, _, err = allot("describe", "configmap", "lines", "-A", check=False)
        self.assertEqual(code, 1)
        self.assertIn("cannot be retrieved by name across all namespaces", err)

    def test_json_is_read_as_json(self):
        one = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"},"data":{"k":"\\ud800"}}'
        _, out, err = self.plane.allot("apply", "-f", "-", stdin=one % "a" + one % "b" + "\n---\n" + one % "c")
        self.assertEqual((out.count("created"), err), (3, ""), out)
        code, _, err = self.plane.allot("apply", "-f", "-", stdin=one % "a" + '\n{"kind": x}', check=False)
        self.assertEqual((code, err), (1, "error: standard input: json: line 2: invalid character 'x' looking for beginning of value\n"))

    def test_errors_say_what_and_where(self):
        cases = [
            (["get", "podz"], None, "did you mean \"pods\"?"),
            (["get", "pod", "nope"], None, 'Error from server (NotFound): pods "nope" not found'),
            (["apply", "-f", "-"], "a: [1, 2", "line"),
            (["apply", "-f", "-"], "kind: Pod", "apiVersion is not set"),
            (["apply", "-f", "-"], "{apiVersion: v2, kind: Pod, metadata: {name: x}}", 'no matches for kind "Pod" in version "v2"; it is served as v1'),
            (["apply", "-f", "/no/such/file"], None, "/no/such/file"),
            (["get", "pods", "-o", "xml"], None, "allowed formats are"),
            (["get", "pods", "nope", "-l", "a=b"], None, 'name cannot be provided when a selector is specified (found "nope")'),
            (["delete", "pod/nope", "-l", "a=b"], None, 'name cannot be provided when a selector is specified (found "nope")'),
            (["describe", "pods", "nope", "-l", "a=b"], None, 'name cannot be provided when a selector is specified (found "nope")'),
            (["get", "pods", "--sort-by", "{.metadata.name"], None, "--sort-by"),
            (["get", "devices", "-l", "a=b"], None, "selectors and watches do not apply"),
            (["delete", "pod/nope", "--cascade=foo"], None, '--cascade: found "foo", expected background, foreground or orphan'),
            (["apply", "-f", "-", "--validate=foo"], "kind: Pod", '--validate: found "foo", expected strict, true, warn, ignore or false'),
            (["apply", "-f", "-", "--dry-run=foo"], "kind: Pod", '--dry-run: found "foo", expected none, client or server'),
            (["up", "--fleet", "small"], None, "--fleet: small: No such file or directory; expected a YAML file of nodes and devices, or none"),
            (["frobnicate"], None, "unknown verb"),
            (["wait", "pod/x", "--for=soon"], None, "expected delete, create, condition="),
            (["get", "--kubeconfig", "/no/such", "pods"], None, "/no/such"),
        ]
        for arguments, stdin, want in cases:
            code, out, err = self.plane.allot(*arguments, stdin=stdin, check=False)
            self.assertNotEqual(code, 0, arguments)
            self.assertIn(want, err, arguments)


class UpTest(unittest.TestCase):
    def up(self, plane):
        log = pathlib.Path(plane.folder, "log").read_text()
        plane.stop()
        return log

    def test_kubeconfig_may_be_none_or_a_device(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = folder + "/pipe"
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            plane = Plane(kubeconfig=pipe)
            self.assertTrue(os.read(reader, 100).startswith(b"apiVersion: v1"))
            self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
            self.assertEqual(os.listdir(folder), ["pipe"])
            plane.remove()
            os.close(reader)
        plane = Plane(kubeconfig="")
        self.assertIn("no kubeconfig written", self.up(plane))
        plane.remove()

    def test_losses_are_told(self):
        plane = Plane()
        self.assertNotIn("WARNING", self.up(plane).upper())
        data = pathlib.Path(plane.folder, "data")
        (data / "pki/ca.key").unlink()
        plane.start()
        self.assertIn("certificate authority is missing", self.up(plane))
        for file in data.glob("allot.db*"):
            file.write_bytes(b"")
        plane.start()
        self.assertIn("the store is an empty file", self.up(plane))
        plane.remove()

    def test_data_needs_a_folder(self):
        done = subprocess.run([BINARY, "up", "--data", ""], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (2, 'error: --data: found "", expected a folder\n'))


if __name__ == "__main__":
    unittest.main()
