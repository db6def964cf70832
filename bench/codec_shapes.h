// The objects codec_bench measures: a running device pod with token volume, conditions and managed
// fields, its allocated claim, and their create requests.  Thread safety: constant data.
#pragma once

#include <string_view>

namespace allot::bench {

inline constexpr std::string_view kPodCreate =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-000123","namespace":"load"},
"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"registry.example/train:1.4","resources":{"requests":{"cpu":"100m","memory":"64Mi"},
"claims":[{"name":"gpu"}]}}],"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"one-gpu"}]}})";

inline constexpr std::string_view kClaimCreate =
    R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"generateName":"train-000123-gpu-","namespace":"load",
"annotations":{"resource.kubernetes.io/pod-claim-name":"gpu"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"train-000123",
"uid":"0d4a5f44-0f0e-4e4f-9a53-6d3c8f6f2b11","controller":true,"blockOwnerDeletion":true}]},"spec":{"devices":{"requests":[{"name":"gpu",
"exactly":{"deviceClassName":"gpu.example.com","allocationMode":"ExactCount","count":1}}]}}})";

inline constexpr std::string_view kAllocatedClaim =
    R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"train-000123-gpu-7xk2q","generateName":"train-000123-gpu-",
"namespace":"load","uid":"5f0c1a52-7f2e-4f53-8c5b-3d1f7d7c8a01","resourceVersion":"482113","creationTimestamp":"2026-09-01T10:00:00Z",
"annotations":{"resource.kubernetes.io/pod-claim-name":"gpu"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"train-000123",
"uid":"0d4a5f44-0f0e-4e4f-9a53-6d3c8f6f2b11","controller":true,"blockOwnerDeletion":true}],
"finalizers":["resource.kubernetes.io/delete-protection"],
"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"resource.k8s.io/v1","time":"2026-09-01T10:00:00Z","fieldsType":"FieldsV1",
"fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:resource.kubernetes.io/pod-claim-name":{}},"f:generateName":{},"f:ownerReferences":{".":{},"k:{\"uid\":\"0d4a5f44-0f0e-4e4f-9a53-6d3c8f6f2b11\"}":{}}},"f:spec":{"f:devices":{"f:requests":{}}}}},
{"manager":"kube-scheduler","operation":"Update","apiVersion":"resource.k8s.io/v1","time":"2026-09-01T10:00:01Z","fieldsType":"FieldsV1",
"fieldsV1":{"f:status":{"f:allocation":{".":{},"f:devices":{".":{},"f:results":{}},"f:nodeSelector":{}},"f:reservedFor":{".":{},"k:{\"uid\":\"0d4a5f44-0f0e-4e4f-9a53-6d3c8f6f2b11\"}":{}}}},"subresource":"status"}]},
"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu.example.com","allocationMode":"ExactCount","count":1}}]}},
"status":{"allocation":{"devices":{"results":[{"request":"gpu","driver":"gpu.example.com","pool":"node-0042","device":"gpu-3"}]},
"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-0042"]}]}]},"allocationTimestamp":"2026-09-01T10:00:01Z"},
"reservedFor":[{"resource":"pods","name":"train-000123","uid":"0d4a5f44-0f0e-4e4f-9a53-6d3c8f6f2b11"}]}})";

inline constexpr std::string_view kRunningPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"train-000123","namespace":"load","uid":"0d4a5f44-0f0e-4e4f-9a53-6d3c8f6f2b11","resourceVersion":"482127",
"generation":1,"creationTimestamp":"2026-09-01T10:00:00Z","labels":{"app":"train","batch.example.com/job":"train-42"},
"managedFields":[{"manager":"load","operation":"Update","apiVersion":"v1","time":"2026-09-01T10:00:00Z","fieldsType":"FieldsV1",
"fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:batch.example.com/job":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{".":{},"f:claims":{},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:resourceClaims":{".":{},"k:{\"name\":\"gpu\"}":{".":{},"f:name":{},"f:resourceClaimTemplateName":{}}},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}},
{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-09-01T10:00:00Z","fieldsType":"FieldsV1",
"fieldsV1":{"f:status":{"f:resourceClaimStatuses":{".":{},"k:{\"name\":\"gpu\"}":{".":{},"f:name":{},"f:resourceClaimName":{}}}}},"subresource":"status"},
{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-09-01T10:00:03Z","fieldsType":"FieldsV1",
"fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:startTime":{}}},"subresource":"status"}]},
"spec":{"volumes":[{"name":"kube-api-access-x7k2q","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],
"containers":[{"name":"main","image":"registry.example/train:1.4","resources":{"requests":{"cpu":"100m","memory":"64Mi"},"claims":[{"name":"gpu"}]},"volumeMounts":[{"name":"kube-api-access-x7k2q","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],
"restartPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","nodeName":"node-0042","securityContext":{},"schedulerName":"default-scheduler",
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],
"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority","resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"one-gpu"}]},
"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-09-01T10:00:01Z"},{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-09-01T10:00:01Z"},{"type":"ContainersReady","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-09-01T10:00:03Z"},{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-09-01T10:00:03Z"}],
"hostIP":"10.0.0.42","podIP":"10.244.42.7","podIPs":[{"ip":"10.244.42.7"}],"startTime":"2026-09-01T10:00:01Z",
"containerStatuses":[{"name":"main","state":{"running":{"startedAt":"2026-09-01T10:00:02Z"}},"lastState":{},"ready":true,"restartCount":0,"image":"registry.example/train:1.4","imageID":"registry.example/train@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","containerID":"containerd://4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865","started":true}],
"qosClass":"Burstable","resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"train-000123-gpu-7xk2q"}]}})";

}  // namespace allot::bench
