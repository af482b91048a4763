"""Lints and renders the chart with Helm's own engine, and holds what comes out against Kubernetes' schemas and against
what the chart promises. Needs the packages helm-python-sdk, kubernetes-validate and pyyaml; `.ci/deploy-check` brings
them. Writes the rendered manifests to the folder that is its argument, if there is one."""

import json
import pathlib
import sys

import helm_python
import kubernetes_validate
import yaml

HERE = pathlib.Path(__file__).parent
CHART = HERE / "plumbline"
KUBERNETES = "1.33.0"
# Kubernetes has no schemas for custom resources; the checks on them are below.
CUSTOM = {"TriggerAuthentication", "ScaledObject", "ServiceMonitor", "PrometheusRule"}
# As in the chart: after the drain the worker signs off from the database and a collector.
FAREWELL_SECONDS = 5 + 4
REFUSED = {
    "an unknown key": {"replcias": 3},
    "a replica count in words": {"replicas": "three"},
    "a privileged port": {"http": {"port": 80}},
    "no secret": {"http": {"existingSecret": ""}},
    "a path out of the folder": {"configs": {"../creator/config.json": "{}"}},
    "a schemeless model": {"model": {"baseUrl": "api.openai.com"}},
}


def render(chart, values):
    manifests = {}
    for path, text in chart.render(values, name="release", namespace="jobs").items():
        if not path.endswith(".yaml"):
            continue
        for one in filter(None, yaml.safe_load_all(text)):
            manifests[one["kind"], one["metadata"]["name"]] = one
    return manifests


def of_kind(manifests, kind):
    return [one for (found, _), one in manifests.items() if found == kind]


def lint(values):
    report = helm_python.lint(CHART, values, strict=True, kube_version="v" + KUBERNETES)
    found = [one["error"] for one in report["messages"] if one["severity"] > 1] + report["errors"]
    assert not found, found


def is_hardened(pod):
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
        assert security["capabilities"]["drop"] == ["ALL"]
        assert container["resources"]["limits"]["memory"]


def keeps_its_promises(manifests, values):
    (deployment,) = of_kind(manifests, "Deployment")
    spec = deployment["spec"]["template"]["spec"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    worker = spec["containers"][0]
    assert spec["terminationGracePeriodSeconds"] >= values["worker"]["drainSeconds"] + FAREWELL_SECONDS
    assert ("replicas" in deployment["spec"]) != values["keda"]["enabled"]
    mounted = {mount["name"] for mount in worker["volumeMounts"]}
    assert mounted == {volume["name"] for volume in spec["volumes"]}
    writable = [mount["mountPath"] for mount in worker["volumeMounts"] if not mount.get("readOnly")]
    assert writable == ["/workspace"], writable
    names = [one["name"] for one in worker["env"]]
    assert len(names) == len(set(names)), names
    assert all("value" not in one for one in worker["env"] if one["name"] in ("DATABASE_URL", "OPENAI_API_KEY"))
    for kind in ("Service", "PodDisruptionBudget", "NetworkPolicy"):
        for one in of_kind(manifests, kind):
            selector = one["spec"].get("podSelector", one["spec"]["selector"] if kind != "NetworkPolicy" else None)
            selector = selector.get("matchLabels", selector)
            assert selector.items() <= labels.items(), (kind, selector)
    for pod in [spec] + [job["spec"]["template"]["spec"] for job in of_kind(manifests, "Job")]:
        is_hardened(pod)
    for job in of_kind(manifests, "Job"):
        # If the Service selected a Pod of the migration, it would be sent requests for the dashboard.
        service = of_kind(manifests, "Service")[0]["spec"]["selector"]
        assert not service.items() <= job["spec"]["template"]["metadata"]["labels"].items()
    for scaled in of_kind(manifests, "ScaledObject"):
        assert scaled["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
        (trigger,) = scaled["spec"]["triggers"]
        assert all(isinstance(value, str) for value in trigger["metadata"].values())
        assert trigger["metadata"]["targetQueryValue"] == str(values["worker"]["concurrency"])
        (auth,) = of_kind(manifests, "TriggerAuthentication")
        assert trigger["authenticationRef"]["name"] == auth["metadata"]["name"]
    for monitor in of_kind(manifests, "ServiceMonitor"):
        ports = {port["name"] for port in of_kind(manifests, "Service")[0]["spec"]["ports"]}
        assert {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]} <= ports
    for rule in of_kind(manifests, "PrometheusRule"):
        original = yaml.safe_load((HERE.parent / "prometheus/alerts.yaml").read_text())
        assert rule["spec"] == original, "the chart's rules are not deploy/prometheus/alerts.yaml"
    for configmap in of_kind(manifests, "ConfigMap"):
        for key, content in configmap["data"].items():
            if key == "plumbline.json":
                assert json.loads(content) == json.loads((HERE.parent / "grafana/dashboard.json").read_text())


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    chart = helm_python.Chart.load(CHART)
    cases = {"defaults": {}}
    cases |= {path.stem: yaml.safe_load(path.read_text()) for path in sorted((HERE / "ci").glob("*.yaml"))}
    for name, values in cases.items():
        lint(values)
        chart.validate_schema(values)
        manifests = render(chart, values)
        for (kind, _), manifest in manifests.items():
            if kind not in CUSTOM:
                kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
        keeps_its_promises(manifests, chart.merge_values(values))
        if target:
            (target / f"{name}.yaml").write_text(yaml.safe_dump_all(manifests.values()))
        print(f"chart with {name}: {len(manifests)} manifests are in order ({', '.join(sorted({k for k, _ in manifests}))})")
    for what, values in REFUSED.items():
        try:
            chart.validate_schema(values)
        except helm_python.HelmError:
            continue
        raise AssertionError(f"the chart's schema accepts {what}: {values}")
    print(f"chart: {len(REFUSED)} mistakes are refused by its schema")


if __name__ == "__main__":
    main()
