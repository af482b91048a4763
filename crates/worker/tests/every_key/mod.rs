//! Every configuration key has an effect: a key that is parsed and ignored is a bug.
//!
//! The test walks `configs/schema.json`. For each leaf key the table in [`pairs`] has two configurations that differ
//! only in that key, and the observations must differ: the life of a job in the engine ([`life`]), and the traffic to
//! model, search service, embeddings and graph ([`wire`]). Two observations of the same configuration must be equal, or
//! a difference would prove nothing. A key without an entry fails the test, and so does an entry without a key.

mod life;
mod pairs;
mod wire;

use futures_util::StreamExt as _;
use pairs::{Pair, Shown};
use plumbline_config::{ModelEnv, Resolved};
use plumbline_engine::Settings;
use plumbline_job_setup as job_setup;
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

/// A job type of the operator with these keys in addition to the creator's, because many keys cannot be set by a row;
/// `PORT` is replaced by the port of a test service.
fn resolve(keys: &Value, port: u16) -> Result<Resolved, String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let write = |job_type: &str, file: &Value| {
        let path = folder.path().join(job_type);
        std::fs::create_dir(&path).expect("the folder is new");
        let text = file.to_string().replace("PORT", &port.to_string());
        std::fs::write(path.join("config.json"), text).expect("the folder can be written");
    };
    write("base", &json!({"$extends": "creator", "llm": {"model": "m", "base_url": "http://127.0.0.1:PORT/v1"}}));
    let mut mine = json!({"$extends": "base"});
    mine.as_object_mut().expect("it is an object").extend(keys.as_object().cloned().unwrap_or_default());
    write("mine", &mine);
    let configs = job_setup::configs(Some(folder.path()), None).expect("the folder can be read");
    let shown = format!("{}/", folder.path().display());
    configs.resolve("mine", &json!({}), &ModelEnv::default()).map_err(|error| error.to_string().replace(&shown, ""))
}

/// A configuration to observe, or why it is refused.
struct Look {
    stub: wire::Stub,
    resolved: Result<(Resolved, Settings), String>,
}

impl Look {
    async fn at(overrides: &Value) -> Self {
        let stub = wire::Stub::start().await;
        let count = Arc::new(|text: &str| u32::try_from(text.len() / 4).unwrap_or(0));
        let resolved = resolve(overrides, stub.port()).and_then(|resolved| {
            let settings = job_setup::settings(&resolved, count).map_err(|refused| refused.to_string())?;
            Ok((resolved, settings))
        });
        Self { stub, resolved }
    }

    /// The outgoing traffic, and the follow-up job.
    async fn outside(&self) -> String {
        let seen = match &self.resolved {
            Ok((resolved, settings)) => {
                format!("{}\n{}", pairs::follower(resolved), wire::all(&self.stub, resolved, settings).await)
            }
            Err(refused) => refused.clone(),
        };
        seen.replace(&self.stub.port().to_string(), "PORT")
    }

    /// Whether a job's life differs under the other configuration. The engine is pure, so one comparison is enough.
    fn lives_otherwise(&self, other: &Self) -> bool {
        match (&self.resolved, &other.resolved) {
            (Ok((_, one)), Ok((_, other))) => life::differ(one, other),
            (one, other) => one.is_err() != other.is_err(),
        }
    }
}

/// How many keys are looked at side by side: their clients have timeouts, which a busy machine must not reach.
const AT_ONCE: usize = 16;

#[tokio::test]
async fn every_key_changes_something() {
    let pairs = pairs::all();
    let checks = pairs.iter().map(|pair| async move {
        let Shown::By { base, one, other } = &pair.shown else { return };
        assert!(differ(pair, base, one, other).await, "`{}` changes nothing between {one} and {other}", pair.key);
    });
    futures_util::stream::iter(checks).buffer_unordered(AT_ONCE).for_each(|()| std::future::ready(())).await;
    let known: BTreeSet<String> = pairs.iter().map(|pair| pair.key.clone()).collect();
    let schema: Value = serde_json::from_str(include_str!("../../../../configs/schema.json")).expect("it is JSON");
    assert_eq!(known, leaves(&schema, ""), "the table of pairs and the schema must name the same keys");
}

async fn differ(pair: &Pair, base: &Value, one: &Value, other: &Value) -> bool {
    let with = |value: &Value| pairs::set(base.clone(), &pair.key, value.clone());
    let (one, other) = (with(one), with(other));
    let (first, again, second) = tokio::join!(Look::at(&one), Look::at(&one), Look::at(&other));
    let (seen, seen_again, other_seen) = tokio::join!(first.outside(), again.outside(), second.outside());
    assert_eq!(seen, seen_again, "`{}`: what is seen is not the same twice, so a difference shows nothing", pair.key);
    seen != other_seen || first.lives_otherwise(&second)
}

#[tokio::test]
async fn a_pair_that_changes_nothing_is_found() {
    let pair = Pair { key: "limits.max_iterations".into(), shown: Shown::ByNothing };
    assert!(!differ(&pair, &json!({}), &json!(900), &json!(901)).await, "no job of the test comes near either bound");
}

/// The dotted leaf keys of a schema.
fn leaves(schema: &Value, path: &str) -> BTreeSet<String> {
    // An optional key has the alternative `null`.
    let alternatives = schema["anyOf"].as_array();
    let schema = alternatives.and_then(|list| list.iter().find(|one| one["type"] != "null")).unwrap_or(schema);
    let Some(properties) = schema["properties"].as_object() else { return BTreeSet::from([path.to_owned()]) };
    let below = properties.iter().map(|(key, inner)| leaves(inner, format!("{path}.{key}").trim_start_matches('.')));
    below.flatten().collect()
}

#[test]
fn keys_that_are_shown_elsewhere_are_shown_there() {
    for Pair { key, shown } in pairs::all() {
        if let Shown::In { file, test } = shown {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(text.contains(&format!("fn {test}(")), "`{key}`: {file} has no test {test}");
        }
    }
}

#[test]
fn leaves_are_found_in_groups_and_after_alternatives() {
    let group = json!({"anyOf": [{"properties": {"c": {}}}, {"type": "null"}]});
    let schema = json!({"properties": {"a": {"type": "string"}, "b": group}});
    assert_eq!(leaves(&schema, ""), BTreeSet::from(["a".to_owned(), "b.c".to_owned()]));
}
