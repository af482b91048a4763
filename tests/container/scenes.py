#!/usr/bin/env python3
"""Runs docker/compose.yaml of a checkout for real, scene by scene: one line each, and a last line `N ok, M failed, K skipped`.
Needs the images (images.sh, build.sh), an engine with networks (engine.sh) and the compose plugin (tools.sh); check.sh brings
them. Environment: SRC the checkout, CT the folder of settings.sh, WORKER_IMAGE the worker's image; WORKER_PORTS and
POSTGRES_PORT go to compose.yaml. Arguments: names of scenes; default: all. `--skip REASON`: runs none and says why."""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

SRC = pathlib.Path(os.environ["SRC"])
CT = pathlib.Path(os.environ.get("CT", "/tmp/plumbline-container"))
PROJECT = "plumbline-check"
PASSWORD = "0c9e1c5a3f62477b9d41"
TOKEN = "8f1bb3d2c0a94e57a6d3"
ENV = os.environ | {
    "DOCKER_HOST": os.environ.get("ENGINE", f"unix://{CT}/engine/docker.sock"),
    "DOCKER_CONFIG": f"{CT}/client",
    "WORKER_IMAGE": os.environ.get("WORKER_IMAGE", "plumbline"),
    "COMPOSE_ANSI": "never",
    "COMPOSE_PROGRESS": "quiet",
    # Not the name of a deployment that may exist here: the scenes delete its volumes.
    "COMPOSE_PROJECT_NAME": PROJECT,
    "WORKER_PORTS": os.environ.get("WORKER_PORTS", "18080"),
    "POSTGRES_PORT": os.environ.get("POSTGRES_PORT", "15432"),
    # What docker/.env would contain; the environment overrides it.
    "POSTGRES_PASSWORD": PASSWORD,
    "WORKER_PASSWORD": PASSWORD,
    "PLUMBLINE_HTTP_TOKEN": TOKEN,
    "NEO4J_PASSWORD": PASSWORD,
}
# A range, because several workers need it.
PORTS = "18080-18089"
# A job of the sample sends about 90 requests (validator included): at 0.3 s per answer it runs for about half a minute.
SLOW = CT / "slow.yaml"
SLOW.write_text('services: {model: {command: [rehearse, --listen, "0.0.0.0:8900", --delay-ms, "300"]}}\n')


class Skipped(Exception):
    """A scene that this machine cannot run, with the reason."""


def run(*command, check=True, timeout=300, **more):
    done = subprocess.run(command, env=ENV | more, text=True, capture_output=True, timeout=timeout)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def compose(*arguments, slow=False, check=True, **more):
    files = ["-f", str(SRC / "docker/compose.yaml")] + (["-f", str(SLOW)] if slow else [])
    return run("docker", "compose", *files, *arguments, check=check, **more)


def docker(*arguments, check=True):
    return run("docker", *arguments, check=check).stdout.strip()


def sql(statement, check=True):
    return compose("exec", "-T", "postgres", "psql", "-U", "plumbline", "-Atc", statement, check=check).stdout.strip()


def insert():
    # As in docker/README.md.
    sql("INSERT INTO jobs (prompt, document_path) VALUES ('Extract the requirements', 'record-keeping-policy.pdf')")


def jobs():
    return [line.split("|") for line in sql("SELECT job_type, status, attempt, crash_count FROM jobs ORDER BY created_at").splitlines()]


def wait(what, condition, seconds=120):
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        if ended := sql("SELECT error_message FROM jobs WHERE status = 'failed' LIMIT 1", check=False):
            raise AssertionError(f"{what}: {ended}")
        try:
            if condition():
                return time.monotonic() - started
        except (RuntimeError, OSError, ValueError):
            pass
        time.sleep(0.5)
    raise AssertionError(f"{what}: not within {seconds} s; jobs: {jobs()}")


def all_done(number):
    """All creators and the validators that follow them."""
    rows = jobs()
    return len(rows) == 2 * number and all(status == "completed" for _, status, *_ in rows)


def workers():
    return [line for line in compose("ps", "-q", "worker").stdout.split() if line]


def port_of(worker):
    return int(docker("port", worker, "8080/tcp").splitlines()[0].split(":")[-1])


def http(path, token=True, port=None):
    port = port or port_of(workers()[0])
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {TOKEN}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def in_order(number):
    # All jobs have the same document, so each has found the same, without duplicates.
    found = sql("SELECT count(*) FROM requirement_cache")
    texts = int(sql("SELECT count(DISTINCT text) FROM requirement_cache"))
    assert texts > 50 and int(found) == number * texts, f"{found} requirements of {number} jobs, {texts} different ones"
    said = compose("run", "--rm", "--no-deps", "worker", "doctor", "--invariants", check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    twice = sql("SELECT count(*) FROM (SELECT job_id, step FROM llm_requests GROUP BY 1, 2 HAVING count(*) > 1) t", check=False)
    return f"{found} requirements, invariants hold, steps with more than one model request: {twice or '?'}"


def clean():
    compose("down", "-v", "--remove-orphans", "-t", "5")


def fresh(slow=False, scale=1, **more):
    clean()
    started = time.monotonic()
    compose("up", "-d", "--scale", f"worker={scale}", slow=slow, **more)
    return time.monotonic() - started


def scene(function):
    SCENES[function.__name__] = function
    return function


SCENES = {}


@scene
def cold_start():
    """The three lines on top of the file, with `up -d`."""
    up = fresh()
    insert()
    took = wait("the job", lambda: all_done(1))
    health = wait("healthy", lambda: docker("inspect", "--format", "{{.State.Health.Status}}", workers()[0]) == "healthy", 60)
    exited = docker("inspect", "--format", "{{.State.ExitCode}}", compose("ps", "-aq", "migrate").stdout.strip())
    return f"up in {up:.1f} s, done {took:.1f} s after the row, healthy {health:.0f} s later, migrate's exit code {exited}; {in_order(1)}"


@scene
def logs():
    """A worker logs when it starts, and when it loses its database."""
    fresh()
    time.sleep(2)
    lines = compose("logs", "--no-log-prefix", "worker").stdout.strip().splitlines()
    assert lines, "`docker compose logs worker` is empty after the start"
    return f"{len(lines)} lines after the start"


@scene
def dashboard():
    """From the host: with the token, without it, the probes, the metrics."""
    fresh()
    wait("the port", lambda: http("/healthz", token=False)[0] == 200, 30)
    codes = {path: (http(path)[0], http(path, token=False)[0]) for path in ("/", "/metrics", "/healthz", "/readyz")}
    assert codes == {"/": (200, 401), "/metrics": (200, 401), "/healthz": (200, 200), "/readyz": (200, 200)}, codes
    opened = run("curl", "-sL", "-c", str(CT / "jar"), "-o", "/dev/null", "-w", "%{http_code} %{num_redirects}",
                 f"http://localhost:{port_of(workers()[0])}/?token={TOKEN}").stdout
    return f"{codes}; a browser's way in: {opened} (code, redirects)"


@scene
def address():
    """The README's address is the worker's, also after `restart` and after `down` and `up`."""
    fresh()
    seen = [port_of(workers()[0])]
    compose("restart", "worker")
    seen.append(port_of(workers()[0]))
    compose("down")
    compose("up", "-d")
    seen.append(port_of(workers()[0]))
    assert len(set(seen)) == 1, f"the dashboard's port at the start, after restart, after down and up: {seen}"
    return str(seen)


@scene
def volume():
    """Who owns the volume, and whether the host can read the files."""
    fresh()
    insert()
    wait("the job", lambda: all_done(1))
    where = pathlib.Path(docker("volume", "inspect", f"{PROJECT}_workspace", "--format", "{{.Mountpoint}}"))
    job = sql("SELECT id FROM jobs WHERE job_type = 'creator'")
    owner = where.stat()
    wait("the mirror", lambda: (where / f"job_{job}/output/requirements.md").exists(), 30)
    files = [path for path in (where / f"job_{job}").rglob("*") if path.is_file() and ".plumbline" not in path.parts]
    for_all = [path for path in files if path.stat().st_mode & 0o004]
    out = CT / "copied"
    run("rm", "-rf", str(out))
    compose("cp", f"worker:/workspace/job_{job}", str(out))
    assert (out / "output/requirements.md").exists()
    if not shutil.which("setpriv"):
        raise Skipped("setpriv (util-linux) is not here")
    nobody = run("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "ls", str(where), check=False)
    return (f"owner {owner.st_uid}:{owner.st_gid} mode {owner.st_mode & 0o777:o}, {len(files)} files, {len(for_all)} readable for all; "
            f"`compose cp` works; a user of the host who is not root {'can' if nobody.returncode == 0 else 'cannot'} list the volume's folder")


@scene
def restart():
    """`restart` of everything, in the middle of a job."""
    fresh(slow=True)
    insert()
    wait("the start", lambda: int(sql("SELECT count(*) FROM llm_requests")) > 10)
    before = sql("SELECT count(*) FROM llm_requests")
    started = time.monotonic()
    compose("restart", slow=True)
    took = time.monotonic() - started
    done = wait("the job", lambda: all_done(1), 180)
    codes = docker("inspect", "--format", "{{.RestartCount}}", workers()[0])
    return f"at request {before}; restart took {took:.1f} s, done {done:.0f} s later; the worker's restarts by the engine: {codes}; jobs {jobs()}; {in_order(1)}"


@scene
def three():
    """--scale worker=3: three ports, jobs on all of them."""
    fresh(slow=True, scale=3, WORKER_PORTS=PORTS)
    ports = sorted(port_of(one) for one in workers())
    for _ in range(12):
        insert()
    wait("the jobs", lambda: all_done(12), 240)
    spread = sql("SELECT string_agg(n::text, '/') FROM (SELECT count(*) n FROM attempts GROUP BY worker_id) t", check=False)
    answers = [http("/readyz", token=False, port=port)[0] for port in ports]
    return f"ports {ports}, ready {answers}; attempts by worker {spread}; {in_order(12)}"


@scene
def killed():
    """kill -9 of the worker's container, in the middle of a job."""
    fresh(slow=True)
    insert()
    wait("the start", lambda: int(sql("SELECT count(*) FROM llm_requests")) > 10)
    pid = docker("inspect", "--format", "{{.State.Pid}}", workers()[0])
    os.kill(int(pid), 9)
    at = time.monotonic()
    wait("the engine's restart", lambda: docker("inspect", "--format", "{{.RestartCount}} {{.State.Running}}", workers()[0]) == "1 true", 30)
    back = time.monotonic() - at
    steps = int(sql("SELECT count(*) FROM llm_requests"))
    goes_on = wait("a step of the successor", lambda: int(sql("SELECT count(*) FROM llm_requests")) > steps + 1, 120)
    done = wait("the job", lambda: all_done(1), 180)
    return f"restarted by the engine after {back:.1f} s, a new step {goes_on:.0f} s after that, done {done:.0f} s later; jobs {jobs()}; {in_order(1)}"


@scene
def killed_by_docker():
    """`docker kill` counts as intended: the engine does not start the container again; another worker takes the job."""
    fresh(slow=True, scale=2, WORKER_PORTS=PORTS)
    insert()
    wait("the start", lambda: int(sql("SELECT count(*) FROM llm_requests")) > 10)
    host = sql("SELECT w.hostname FROM jobs j JOIN workers w ON w.id = j.worker_id WHERE j.status = 'running' LIMIT 1", check=False)
    victim = next((one for one in workers() if host and one.startswith(host)), workers()[0])
    docker("kill", victim)
    done = wait("the job", lambda: all_done(1), 240)
    return f"done {done:.0f} s after the kill by the other worker; jobs {jobs()}; {in_order(1)}"


@scene
def database_away():
    """Postgres stopped for 20 s in the middle of a job."""
    fresh(slow=True)
    insert()
    wait("the start", lambda: int(sql("SELECT count(*) FROM llm_requests")) > 10)
    compose("stop", "postgres", slow=True)
    time.sleep(20)
    health, ready = http("/healthz", token=False)[0], http("/readyz", token=False)
    state = docker("inspect", "--format", "{{.State.Health.Status}}", workers()[0])
    compose("start", "postgres", slow=True)
    done = wait("the job", lambda: all_done(1), 180)
    return f"meanwhile healthz {health}, readyz {ready}, container {state}; done {done:.0f} s after the return; jobs {jobs()}; {in_order(1)}"


@scene
def stopped():
    """`compose stop`: drained within the grace period, exit code 0, the job released; then `start`."""
    fresh(slow=True)
    insert()
    wait("the start", lambda: int(sql("SELECT count(*) FROM llm_requests")) > 10)
    worker = workers()[0]
    started = time.monotonic()
    compose("stop", "worker", slow=True)
    took = time.monotonic() - started
    code = docker("inspect", "--format", "{{.State.ExitCode}} oom={{.State.OOMKilled}}", worker)
    status = sql("SELECT status FROM jobs")
    left = sql("SELECT count(*) FROM workers")
    started = time.monotonic()
    compose("stop", slow=True)
    rest = time.monotonic() - started
    codes = {name: docker("inspect", "--format", "{{.State.ExitCode}}", compose("ps", "-aq", name).stdout.strip()) for name in ("model", "postgres")}
    compose("start", slow=True)
    done = wait("the job", lambda: all_done(1), 180)
    assert code.startswith("0 "), code
    return (f"the worker drained in {took:.1f} s, exit code {code}, job {status}, rows in workers {left}; the rest in {rest:.1f} s with {codes}; "
            f"done {done:.0f} s after `start`; jobs {jobs()}; {in_order(1)}")


@scene
def stop_at_once():
    """`compose stop` of everything at once in the middle of a job: in which order, and can the worker still reach Postgres?"""
    fresh(slow=True)
    insert()
    wait("the start", lambda: int(sql("SELECT count(*) FROM llm_requests")) > 10)
    worker = workers()[0]
    started = time.monotonic()
    compose("stop", slow=True)
    took = time.monotonic() - started
    code = docker("inspect", "--format", "{{.State.ExitCode}}", worker)
    ends = {name: docker("inspect", "--format", "{{.State.FinishedAt}} {{.State.ExitCode}}", compose("ps", "-aq", name).stdout.strip()) for name in ("worker", "model", "postgres")}
    compose("up", "-d", slow=True)
    done = wait("the job", lambda: all_done(1), 180)
    return f"all stopped in {took:.1f} s, worker's exit code {code}, {ends}; done {done:.0f} s after `up`; jobs {jobs()}; {in_order(1)}"


@scene
def down_and_up():
    """`down` keeps the volumes: the job continues."""
    fresh(slow=True)
    insert()
    wait("the start", lambda: int(sql("SELECT count(*) FROM llm_requests")) > 10)
    started = time.monotonic()
    compose("down", slow=True)
    took = time.monotonic() - started
    kept = docker("volume", "ls", "-q").split()
    compose("up", "-d", slow=True)
    before = sql("SELECT count(*) FROM llm_requests")
    done = wait("the job", lambda: all_done(1), 180)
    return f"down in {took:.1f} s, kept {kept}; went on from request {before}, done {done:.0f} s after `up`; jobs {jobs()}; {in_order(1)}"


@scene
def leftovers():
    """`down` leaves no volumes but the named ones."""
    fresh()
    before = set(docker("volume", "ls", "-q").split())
    for _ in range(2):
        compose("down")
        compose("up", "-d")
    compose("down")
    more = set(docker("volume", "ls", "-q", "--filter", "dangling=true").split()) - {f"{PROJECT}_postgres", f"{PROJECT}_workspace"}
    new = more - before
    assert not more, f"anonymous volumes left: {len(more)}, {len(new)} of them by two times `down` and `up`"
    return "none"


@scene
def long_answer():
    """`compose stop` while the model's answer takes longer than the drain and the grace period."""
    fresh()
    SLOW.write_text(SLOW.read_text().replace('"300"', '"40000"'))
    try:
        compose("up", "-d", slow=True)
        insert()
        wait("the start", lambda: sql("SELECT status FROM jobs") == "running")
        time.sleep(3)
        worker = workers()[0]
        started = time.monotonic()
        compose("stop", "worker", slow=True)
        took = time.monotonic() - started
        code = docker("inspect", "--format", "{{.State.ExitCode}}", worker)
        status = sql("SELECT status, attempt, crash_count FROM jobs")
    finally:
        SLOW.write_text(SLOW.read_text().replace('"40000"', '"300"'))
    compose("up", "-d", slow=True)
    done = wait("the job", lambda: all_done(1), 180)
    assert code == "0" and took < 30, f"exit code {code} after {took:.1f} s"
    return f"stopped in {took:.1f} s with exit code {code}, job {status}; done {done:.0f} s after `up` with a quick model; {in_order(1)}"


@scene
def stopped_without_database():
    """`compose stop worker` while Postgres is down: the grace period must suffice, and the job must continue later."""
    fresh(slow=True)
    insert()
    wait("the start", lambda: int(sql("SELECT count(*) FROM llm_requests")) > 10)
    worker = workers()[0]
    docker("kill", compose("ps", "-q", "postgres").stdout.strip())
    time.sleep(2)
    started = time.monotonic()
    compose("stop", "worker", slow=True)
    took = time.monotonic() - started
    code = docker("inspect", "--format", "{{.State.ExitCode}}", worker)
    compose("up", "-d", slow=True)
    done = wait("the job", lambda: all_done(1), 180)
    return f"stopped in {took:.1f} s with exit code {code}; done {done:.0f} s after `up`; jobs {jobs()}; {in_order(1)}"


@scene
def least_rights():
    """The worker as a user in the role plumbline_work (deploy/roles.sql), as it should be beyond one machine."""
    clean()
    compose("up", "-d", "postgres")
    compose("run", "--rm", "migrate")
    roles = subprocess.run(["docker", "compose", "-f", str(SRC / "docker/compose.yaml"), "exec", "-T", "postgres", "psql", "-q", "-U", "plumbline",
                            "-v", "ON_ERROR_STOP=1"], env=ENV, text=True, capture_output=True,
                           input=(SRC / "deploy/roles.sql").read_text() + "CREATE ROLE one LOGIN PASSWORD 'one' IN ROLE plumbline_work;")
    assert roles.returncode == 0, roles.stderr
    other = CT / "least.yaml"
    other.write_text("services: {worker: {environment: {RUST_LOG: info, DATABASE_URL: 'postgres://one:one@postgres:5432/plumbline'}}}\n")
    run("docker", "compose", "-f", str(SRC / "docker/compose.yaml"), "-f", str(other), "up", "-d")
    insert()
    wait("the job", lambda: all_done(1))
    first = in_order(1)
    # An upgrade adds a table that roles.sql has not granted yet.
    sql("REVOKE ALL ON job_settings FROM plumbline_work")
    run("docker", "compose", "-f", str(SRC / "docker/compose.yaml"), "-f", str(other), "restart", "worker")
    insert()
    time.sleep(12)
    ready = http("/readyz", token=False)
    lines = compose("logs", "--no-log-prefix", "--tail", "3", "worker").stdout.strip().splitlines()
    state = sql("SELECT status || ' ' || coalesce(status_reason, '') || ' ' || coalesce(error_message, '') FROM jobs ORDER BY created_at DESC LIMIT 1")
    return f"{first}; without a right on one table: readyz {ready}, the next job: {state!r}; last words: {lines[-1:]}"


@scene
def wait_flag():
    """`up -d --wait`, which scripts use: it must not mistake migrate's end for a failure."""
    clean()
    started = time.monotonic()
    done = compose("up", "-d", "--wait", check=False)
    took = time.monotonic() - started
    assert done.returncode == 0, f"exit code {done.returncode} after {took:.0f} s: {(done.stdout + done.stderr).strip().splitlines()[-1:]}"
    return f"exit code 0 after {took:.0f} s"


@scene
def folder_of_ones_own():
    """WORKER_DOCUMENTS is a folder of the user that others may not read (mode 0700), as home folders are."""
    folder = CT / "documents"
    folder.mkdir(exist_ok=True)
    run("cp", str(SRC / "crates/cli/sample/record-keeping-policy.pdf"), str(folder))
    folder.chmod(0o700)
    clean()
    compose("up", "-d", WORKER_DOCUMENTS=str(folder))
    insert()
    end = time.monotonic() + 60
    while not (jobs() and jobs()[0][1] in ("failed", "completed", "paused", "review")):
        assert time.monotonic() < end, jobs()
        time.sleep(0.5)
    said = sql("SELECT status || ': ' || coalesce(error_message, '') || ' | hint: ' || coalesce(error_details ->> 'hint', '') FROM jobs LIMIT 1")
    doctor = compose("exec", "-T", "worker", "plumbline", "doctor", check=False, WORKER_DOCUMENTS=str(folder)).stdout
    return f"{said}; doctor: {[line for line in doctor.splitlines() if 'workspace' in line or 'import' in line]}"


@scene
def odd_password():
    """POSTGRES_PASSWORD of random characters, as from a password generator."""
    clean()
    odd = {"POSTGRES_PASSWORD": "p@ss/w#rd?1%", "WORKER_PASSWORD": "w:@/?#&%41'"}
    done = compose("up", "-d", check=False, **odd)
    said = compose("logs", "--no-log-prefix", "migrate", "roles", **odd).stdout
    assert done.returncode == 0, f"exit code {done.returncode}: {said.strip().splitlines()[-1:]}"
    insert()
    took = wait("the job", lambda: all_done(1))
    return f"comes up, and the job is done {took:.0f} s later"


@scene
def fifty():
    """50 jobs at once under `mem_limit` of 256 MiB, which deploy/README.md calls ample."""
    clean()
    compose("up", "-d", slow=True, WORKER_MEMORY="256m")
    sql("INSERT INTO jobs (prompt, document_path) SELECT 'Extract the requirements', 'record-keeping-policy.pdf' FROM generate_series(1, 50)")
    peak, started = 0, time.monotonic()
    worker = workers()[0]
    where = pathlib.Path(f"/sys/fs/cgroup/memory/docker/{worker}/memory.max_usage_in_bytes")
    while not all_done(50):
        assert time.monotonic() - started < 300, jobs()
        if where.exists():
            peak = int(where.read_text())
        time.sleep(2)
    oom = docker("inspect", "--format", "{{.State.OOMKilled}} {{.RestartCount}}", worker)
    return f"done in {time.monotonic() - started:.0f} s, highest {peak / 2**20:.0f} MiB (page cache included), killed for memory and restarts {oom}; {in_order(50)}"


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--skip"]:
        for name in SCENES:
            print(f"skipped {name}: {' '.join(arguments[1:])}")
        print(f"0 ok, 0 failed, {len(SCENES)} skipped")
        sys.exit(1)
    wanted = arguments or list(SCENES)
    unknown = [name for name in wanted if name not in SCENES]
    if unknown:
        sys.exit(f"there is no scene {', '.join(unknown)}; there are {', '.join(SCENES)}")
    counts = {"ok": 0, "failed": 0, "skipped": 0}
    for name in wanted:
        started = time.monotonic()
        try:
            said, outcome = SCENES[name](), "ok"
        except Skipped as reason:
            said, outcome = str(reason), "skipped"
        except (AssertionError, RuntimeError, KeyError, IndexError, ValueError, OSError, subprocess.TimeoutExpired) as error:
            said, outcome = f"{type(error).__name__}: {error}", "failed"
        counts[outcome] += 1
        print(f"{outcome:7} {name} ({time.monotonic() - started:.0f} s): {' '.join(str(said).split())}", flush=True)
    clean()
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    sys.exit(1 if counts["failed"] or not counts["ok"] else 0)


if __name__ == "__main__":
    main()
