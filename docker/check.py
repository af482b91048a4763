"""Checks docker/compose.yaml against the files around it: mounted paths exist, dependencies are defined, every
port is published on loopback only, no secret has a default, workers are not the owner of the tables, and Plumbline's services neither run as root nor write to their root file system."""

import pathlib
import re

import yaml

HERE = pathlib.Path(__file__).parent
OURS = {"migrate", "model", "worker"}


def plain(text):
    """The text with each ${NAME:-default} replaced by its default, and each ${NAME:?sentence} by nothing."""
    return re.sub(r"\$\{[A-Z_0-9]+(?::(?:-([^}]*)|\?[^}]*))?\}", lambda found: found.group(1) or "", str(text))


def mounts(service):
    for mount in service.get("volumes", []):
        source, target = plain(mount).split(":")[:2]
        yield source, target


def secrets(text):
    """Every use of a secret requires it to be set, and the example has its name without a value."""
    example = (HERE / ".env.example").read_text().splitlines()
    used = re.findall(r"\$\{([A-Z_0-9]*(?:PASSWORD|TOKEN|SECRET)[A-Z_0-9]*)(:?[-?+]?)", text)
    assert {"POSTGRES_PASSWORD", "WORKER_PASSWORD"} <= {name for name, _ in used}, used
    for name, asks in used:
        if name == "PLUMBLINE_SECRETS":  # names of secrets, and none of them
            continue
        assert asks == ":?", f"{name} has a default or may be empty"
        assert f"{name}=" in example, f"{name} is not in .env.example"
        assert any(f" {name}" in line for line in example if "/dev/urandom" in line), f"nothing makes {name}"


def main():
    text = (HERE / "compose.yaml").read_text()
    secrets(text)
    compose = yaml.safe_load(text)
    database = {name: compose["services"][name]["environment"]["DATABASE_URL"] for name in ("migrate", "worker")}
    owner = compose["services"]["postgres"]["environment"]["POSTGRES_USER"]
    assert database["migrate"].startswith(f"postgres://{owner}@"), "migrations are the owner's, and no password is in an address"
    assert database["worker"].startswith("postgres://plumbline_worker@"), "workers log in as the owner of the tables"
    for name in ("migrate", "worker"):
        assert "PGPASSWORD" in compose["services"][name]["environment"], f"{name} has no password"
    for name, service in compose["services"].items():
        for source, target in mounts(service):
            known = (HERE / source).exists() if source.startswith(".") else source in compose["volumes"]
            assert known, f"{name} mounts {source}, which is not there"
            assert target.startswith("/"), f"{name} mounts {source} nowhere"
        for needed in service.get("depends_on", {}):
            assert needed in compose["services"], f"{name} waits for {needed}, which is not there"
        for config in service.get("configs", []):
            assert config["source"] in compose["configs"], f"{name} reads {config['source']}, which is not there"
        for port in service.get("ports", []):
            assert plain(port).startswith("127.0.0.1:"), f"{name} publishes {port} beyond this machine"
        profiles = set(service.get("profiles", []))
        for needed in service.get("depends_on", {}):
            theirs = set(compose["services"][needed].get("profiles", []))
            assert theirs <= profiles, f"{name} waits for {needed}, which is not started with it"
    for name in OURS:
        service = compose["services"][name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and "user" not in service, name
    used = {source for service in compose["services"].values() for source, _ in mounts(service)}
    assert set(compose["volumes"]) <= used, "a volume is defined that nobody mounts"
    for path in (HERE / "telemetry").rglob("*.yaml"):
        assert isinstance(yaml.safe_load(path.read_text()), dict), path
    grace = int(compose["services"]["worker"]["stop_grace_period"].removesuffix("s"))
    assert grace >= 10 + 5 + 4, "a worker is killed before it has drained"
    sample = (HERE / plain(compose["services"]["worker"]["volumes"][1]).split(":")[0]) / "record-keeping-policy.pdf"
    assert sample.is_file(), "the document of the quick start is not there"


if __name__ == "__main__":
    main()
