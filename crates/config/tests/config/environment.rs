//! `docs/environment.md` is made from the list here, and the list is held against the sources: a variable that the program
//! reads and that is not in it fails the test, and so does one that nobody reads.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

const HEAD: &str = "\
# Every environment variable

Made by a test from the list beside it, which is held against the sources; never edited. An empty variable counts as unset. The
standard variables of OpenTelemetry and of proxies and certificates work as their own documentation says.

| variable | default | meaning |
|---|---|---|
";

/// Name, default, meaning.
const VARIABLES: &[(&str, &str, &str)] = &[
    ("DATABASE_URL", "", "The Postgres, as an address or in libpq's words; needed by everything but `dev`"),
    (
        "PLUMBLINE_WORKSPACE_DIR",
        "`./workspace`",
        "Mirrored folders `job_<id>/`, and `import/`, where `document_path` leads; `/workspace` in the container",
    ),
    ("PLUMBLINE_CONFIG_DIR", "built in", "Job types: `<type>/config.json` and `instructions.md`"),
    ("PLUMBLINE_PROMPTS_DIR", "built in", "The common prompts"),
    ("PLUMBLINE_CONCURRENCY", "`50`", "Most jobs of a worker at once"),
    ("PLUMBLINE_MAX_ITERATIONS", "", "`limits.max_iterations`"),
    ("PLUMBLINE_LEASE_SECS", "`45`", "A worker without a heartbeat for so long has lost its jobs"),
    ("PLUMBLINE_HEARTBEAT_SECS", "`10`", "Time between heartbeats, and between sweeps for lost jobs and unknown types"),
    ("PLUMBLINE_POLL_MS", "`1000`", "Time between looks at the queue where no notification comes"),
    ("PLUMBLINE_DRAIN_SECS", "`10`", "Grace for calls in flight after SIGTERM"),
    (
        "PLUMBLINE_DEFAULT_JOB_TYPE",
        "`creator`",
        "The type of a job that names none; `migrate` makes it the column's default",
    ),
    ("PLUMBLINE_UNKNOWN_TYPE_SECS", "`86400`", "A job whose type no live worker knows fails after so long; 0: never"),
    (
        "PLUMBLINE_GIVE_UP_SECS",
        "`86400`",
        "A job that the same trouble of the infrastructure meets for so long, or whose model or service does not answer for so long, fails; 0: never",
    ),
    (
        "PLUMBLINE_HTTP_ADDR",
        "`127.0.0.1:8080`",
        "Probes, metrics and dashboard; the next free port where none is asked for",
    ),
    ("PLUMBLINE_HTTP_TOKEN", "", "What a reader must show; needed for an address besides loopback"),
    (
        "PLUMBLINE_HTTP_HOSTS",
        "",
        "Names besides IP addresses and `localhost` under which a browser may open the dashboard, with commas",
    ),
    (
        "PLUMBLINE_SECRETS",
        "the names in the configuration",
        "Variables that a configuration may name: `NAME[@host[:port]],…`",
    ),
    ("PLUMBLINE_CONNECTIONS", "", "A JSON object like `connections`, over the files"),
    ("OPENAI_BASE_URL", "", "`llm.base_url`"),
    ("OPENAI_API_KEY", "", "The key of a model whose `llm.api_key_env` names no other variable"),
    ("PLUMBLINE_MODEL", "", "`llm.model`"),
    ("PLUMBLINE_PG_BIN", "found or installed", "Folder of the Postgres programs that `dev` and the tests use"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "", "Where traces go; none are made without one"),
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "", "The same, for traces alone"),
    ("OTEL_TRACES_EXPORTER", "`otlp`", "`none` switches traces off"),
    ("OTEL_SDK_DISABLED", "`false`", "`true` switches traces off"),
    ("OTEL_SERVICE_NAME", "`plumbline`", "The service's name in traces"),
    ("OTEL_RESOURCE_ATTRIBUTES", "", "What else is said of the service, `key=value,…`"),
    ("OTEL_SEMCONV_STABILITY_OPT_IN", "", "Which version of the conventions for generative AI spans follow"),
    ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "`false`", "Whether prompts and answers are part of traces"),
    ("RUST_LOG", "`info,sqlx=warn`", "What is logged"),
    ("NO_COLOR", "", "No colours on terminals"),
];

/// Read by tests and benchmarks, or not by users.
const INTERNAL: [&str; 2] = ["PLUMBLINE_FAIL_POINTS", "PLUMBLINE_FAIL_POINT_TRACE"];

/// Read by what the program is built with, under a name that stands nowhere in our sources.
const BY_LIBRARIES: [&str; 1] = ["RUST_LOG"];

/// Crates whose variables are not for users of the program.
const NOT_SHIPPED: [&str; 2] = ["bench", "rehearsal"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_committed_table_is_the_list() {
    let path = crates().join("../docs/environment.md");
    let expected = VARIABLES.iter().fold(HEAD.to_owned(), |mut text, (name, default, meaning)| {
        let _ = writeln!(text, "| `{name}` | {default} | {meaning} |");
        text
    });
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == expected,
        "docs/environment.md is out of date: run the test with UPDATE=1 and commit the file"
    );
}

#[test]
fn the_list_has_every_variable_that_the_sources_read_and_no_other() {
    let mut read = BTreeSet::new();
    for entry in fs::read_dir(crates()).unwrap() {
        let krate = entry.unwrap().path();
        // What is no part of a worker has variables of its own.
        if krate.is_dir() && !NOT_SHIPPED.iter().any(|name| krate.ends_with(name)) {
            names(&krate.join("src"), &mut read);
        }
    }
    for internal in INTERNAL {
        assert!(read.remove(internal), "nobody reads {internal}");
    }
    read.extend(BY_LIBRARIES.map(str::to_owned));
    let listed: BTreeSet<String> = VARIABLES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(&read - &listed, BTreeSet::new(), "read and not in the list");
    assert_eq!(&listed - &read, BTreeSet::new(), "in the list and read by nobody");
}

/// The names of variables that stand as a whole string in the sources below a folder.
fn names(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.extend(text.split('"').filter(|text| is_variable(text)).map(str::to_owned));
        }
    }
}

fn is_variable(text: &str) -> bool {
    let is_name =
        text.len() > 4 && text.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_');
    let ours =
        ["PLUMBLINE_", "OPENAI_", "OTEL_"].iter().any(|prefix| text.len() > prefix.len() && text.starts_with(prefix));
    is_name && (ours || ["DATABASE_URL", "RUST_LOG", "NO_COLOR"].contains(&text))
}
