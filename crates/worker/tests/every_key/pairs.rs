//! The table: for each key two values, and the other configuration that the key needs to have an effect.

use super::{Resolved, Value, json};
use crate::run::on_complete::next_job;
use plumbline_config::ProfileKeys;
use plumbline_engine::{Change, JobExit};
use uuid::Uuid;

/// How a key's effect is shown.
pub(super) struct Pair {
    pub(super) key: String,
    pub(super) shown: Shown,
}

pub(super) enum Shown {
    /// By two values merged over a configuration.
    By { base: Value, one: Value, other: Value },
    /// By another test, because it needs more than this one has.
    In { file: &'static str, test: &'static str },
    /// It has no effect: it is for editors.
    ByNothing,
}

/// `value` with the dotted key set.
pub(super) fn set(mut config: Value, key: &str, value: Value) -> Value {
    let mut place = &mut config;
    for part in key.split('.') {
        place = &mut place[part];
    }
    *place = value;
    config
}

/// Keys, each with the file and the name of the test that shows its effect.
const ELSEWHERE: [(&str, &str, &str); 12] = [
    ("approval", "tests/it/recovery/approvals.rs", "a_job_waits_for_its_calls_and_makes_those_that_were_approved"),
    ("untrusted", "tests/it/recovery/untrusted.rs", "ask_lets_a_person_decide_on_what_reaches_out"),
    (
        "untrusted_allowed",
        "tests/it/recovery/untrusted.rs",
        "the_result_of_a_foreign_tool_is_a_way_in_and_tools_that_are_allowed_go_on",
    ),
    (
        "connections.web.allowed_hosts",
        "crates/job-setup/tests/setup/untrusted.rs",
        "what_leaves_the_job_reaches_out_unless_the_operator_allows_it",
    ),
    (
        "connections.http_tools",
        "tests/it/recovery/http_tools.rs",
        "a_tool_of_ones_own_is_called_with_its_key_and_stored_with_the_job",
    ),
    (
        "coverage_settings.unsupported",
        "crates/engine/tests/engine/dialogues/coverage.rs",
        "a_job_whose_requirements_go_beyond_their_quotes_is_refused_once_and_then_fails",
    ),
    ("accept_by_rule", "tests/it/handover/by_rule.rs", "what_has_no_remark_is_accepted_without_a_request"),
    ("document_roots", "crates/worker/src/run/intake/tests.rs", "a_type_may_be_kept_to_folders_of_the_import_folder"),
    ("coverage_settings.patterns", "tests/it/evidence/candidates.rs", "patterns_of_a_job_type_add_candidates"),
    ("coverage_settings.style", "tests/it/evidence/candidates.rs", "a_job_type_of_policies_takes_the_present_passive"),
    ("llm.fallback", "tests/it/conversation/provider.rs", "a_model_that_is_overloaded_is_replaced_by_another"),
    ("$extends", "crates/config/tests/config/layers.rs", "a_chain_in_json_and_yaml_merges_from_the_most_general_down"),
];

/// The table.
pub(super) fn all() -> Vec<Pair> {
    let by = |key: &str, base: Value, one: Value, other: Value| Pair {
        key: key.into(),
        shown: Shown::By { base, one, other },
    };
    let plain = |key: &str, one: Value, other: Value| by(key, json!({}), one, other);
    let elsewhere = |key: &str, file, test| Pair { key: key.into(), shown: Shown::In { file, test } };
    let of_levels = |key: &str, test| elsewhere(key, "crates/config/tests/config/levels.rs", test);
    let of_files = |key: &str, test| elsewhere(key, "tests/it/settings/owed_files.rs", test);
    let mut pairs = vec![
        plain("job_type", json!("creator"), json!("validator")),
        plain("display_name", json!("Extraction"), json!("Reading")),
        plain("autonomy", json!("full"), json!("review")),
        plain("on_complete.enqueue", json!("validator"), json!(null)),
        plain("coverage", json!("documents"), json!("off")),
        plain("coverage_settings.minimum", json!(0.4), json!(0.6)),
        plain("coverage_settings.max_closed", json!(0.4), json!(0.6)),
        plain("documents.prepare", json!("start"), json!("model")),
        of_files("deliverables", "deliverables_are_checked_before_a_job_is_complete"),
        of_files("citations_required", "deliverables_are_checked_before_a_job_is_complete"),
        of_files("no_sources", "nothing_is_quoted_from_a_document_that_is_no_source"),
        of_levels("job_may_set", "an_operator_opens_keys_and_what_is_below_them"),
        of_levels("addresses_allowed", "an_opened_address_begins_as_one_that_is_allowed"),
        of_levels("models_allowed", "a_job_chooses_among_the_models_of_its_type"),
        Pair { key: "$schema".into(), shown: Shown::ByNothing },
    ];
    pairs.extend(ELSEWHERE.map(|(key, file, test)| elsewhere(key, file, test)));
    let of_words = ["limits.on_tool_failure", "limits.closed_todos"];
    pairs.extend(limits(by).into_iter().filter(|pair| !of_words.contains(&pair.key.as_str())).map(|pair| {
        of_levels(&pair.key.replace("limits.", "limits_ceiling."), "no_limit_is_raised_above_the_ceiling")
    }));
    pairs.extend(limits(by));
    pairs.extend(record_defaults());
    pairs.extend(phases_and_tools(by));
    pairs.extend(connections(by));
    pairs.extend(models(by));
    pairs
}

type By = fn(&str, Value, Value, Value) -> Pair;

fn record_defaults() -> impl Iterator<Item = Pair> {
    let (file, test) = ("tests/it/evidence/record_passage.rs", "a_passage_is_recorded_and_decided_in_few_words");
    ["type", "confidence", "gobd", "gdpr"]
        .into_iter()
        .map(move |key| Pair { key: format!("record_defaults.{key}"), shown: Shown::In { file, test } })
}

fn limits(by: By) -> Vec<Pair> {
    let plain = |key: &str, one: Value, other: Value| by(&format!("limits.{key}"), json!({}), one, other);
    let elsewhere = |key: &str, test| Pair {
        key: format!("limits.{key}"),
        shown: Shown::In { file: "tests/misbehave/services.rs", test },
    };
    let priced = json!({"llm": {"prices": {"input": 3.0, "cached_input": 0.3, "output": 9.0}}});
    vec![
        plain("max_iterations", json!(7), json!(9)),
        plain("context_threshold_tokens", json!(12_000), json!(24_000)),
        plain("keep_recent_tool_results", json!(3), json!(6)),
        plain("closed_todos", json!("keep"), json!("drop")),
        plain("max_tool_result_tokens", json!(300), json!(3_000)),
        plain("token_budget", json!(20_000), json!(40_000)),
        by("limits.cost_budget_usd", priced, json!(0.05), json!(0.1)),
        plain("deadline_s", json!(50), json!(90)),
        plain("turns_without_tool_call", json!(2), json!(4)),
        plain("repeated_calls.nudge", json!(2), json!(4)),
        plain("repeated_calls.refuse", json!(4), json!(6)),
        plain("repeated_calls.replan", json!(7), json!(9)),
        plain("turns_without_progress", json!(5), json!(9)),
        Pair {
            key: "limits.approval_expires_s".to_owned(),
            shown: Shown::In {
                file: "tests/it/recovery/approvals.rs",
                test: "a_job_continues_when_all_its_calls_have_expired",
            },
        },
        elsewhere("on_tool_failure", "a_job_may_be_stopped_by_a_tool_that_fails"),
        elsewhere("tool_retries", "a_search_that_fails_for_a_moment_is_made_again"),
        elsewhere("tool_timeout_s", "a_search_without_an_answer_times_out"),
    ]
}

fn phases_and_tools(by: By) -> Vec<Pair> {
    let phases = |key: &str, one: Value, other: Value| by(&format!("phase_settings.{key}"), json!({}), one, other);
    let tools = |key: &str, one: Value, other: Value| by(&format!("tools.{key}"), json!({}), one, other);
    vec![
        phases("min_todos", json!(3), json!(6)),
        phases("max_todos", json!(6), json!(4)).with_base(json!({"phase_settings": {"min_todos": 2}})),
        phases("archive_on_transition", json!(true), json!(false)),
        phases("history_at_boundary", json!("reset"), json!("compact")),
        tools("workspace", json!(["read_file", "write_file", "todo_complete"]), json!(["read_file", "todo_complete"])),
        tools("strategic", json!(["todo_write", "write_plan", "job_complete"]), json!(["todo_write", "job_complete"])),
        tools("tactical", json!(["cite"]), json!([])).with_base(json!({"tools": {"domain": []}})),
        tools("domain", json!(["cite"]), json!(["cite", "add_requirement"])),
        tools("deferred", json!(["cite"]), json!([])).with_base(json!({"tools": {"domain": []}})),
    ]
}

impl Pair {
    fn with_base(self, base: Value) -> Self {
        match self.shown {
            Shown::By { one, other, .. } => Self { shown: Shown::By { base, one, other }, ..self },
            Shown::In { .. } | Shown::ByNothing => self,
        }
    }
}

fn connections(by: By) -> Vec<Pair> {
    let here = "http://127.0.0.1:PORT";
    let on = |service: &str, key: &str, base: Value, one: Value, other: Value| {
        by(&format!("connections.{service}.{key}"), json!({"connections": {service: base}}), one, other)
    };
    let graph = |key: &str, one: Value, other: Value| {
        on("neo4j", key, json!({"uri": here, "user": "u", "password_env": "HOME"}), one, other)
    };
    let embeddings = |key: &str, one: Value, other: Value| {
        on("embeddings", key, json!({"base_url": format!("{here}/v1"), "model": "e"}), one, other)
    };
    let search = |key: &str, one: Value, other: Value| {
        on("web_search", key, json!({"provider": "tavily", "base_url": here, "api_key_env": "HOME"}), one, other)
    };
    vec![
        graph("uri", json!(format!("{here}/one")), json!(format!("{here}/other"))),
        graph("user", json!("one"), json!("other")),
        graph("password_env", json!("HOME"), json!("PATH")),
        graph("database", json!("one"), json!("other")),
        graph("allow_write", json!(true), json!(false)),
        embeddings("base_url", json!(format!("{here}/one")), json!(format!("{here}/other"))),
        embeddings("model", json!("one"), json!("other")),
        embeddings("api_key_env", json!("HOME"), json!("PATH")),
        search("provider", json!("tavily"), json!("brave")),
        search("base_url", json!(format!("{here}/one")), json!(format!("{here}/other"))),
        search("api_key_env", json!("HOME"), json!("PATH")),
    ]
}

/// `llm`, and the same keys for each purpose.
fn models(by: By) -> Vec<Pair> {
    let values = [
        ("model", json!("one"), json!("other")),
        ("base_url", json!("http://127.0.0.1:PORT/one"), json!("http://127.0.0.1:PORT/other")),
        ("api", json!("chat"), json!("responses")),
        ("api_key_env", json!("HOME"), json!("PATH")),
        ("temperature", json!(0.2), json!(0.9)),
        ("reasoning_level", json!("low"), json!("high")),
        ("max_output_tokens", json!(1_000), json!(2_000)),
        ("output_cap", json!("max_tokens"), json!("max_completion_tokens")),
        // A window too small for threshold and answer is refused.
        ("context_window", json!(100_000), json!(20_000)),
        ("timeout_s", json!(3), json!(4)),
        ("stream", json!("on"), json!("off")),
        ("idle_timeout_s", json!(3), json!(4)),
        ("max_retries", json!(1), json!(4)),
        ("tool_choice", json!("auto"), json!("required")),
        ("service_tier", json!("flex"), json!("priority")),
        ("parallel_tool_calls", json!(true), json!(false)),
        ("todo_list_position", json!("last"), json!("after_system")),
        ("prices.input", json!(1.0), json!(5.0)),
        ("prices.cached_input", json!(0.1), json!(0.9)),
        ("prices.output", json!(2.0), json!(8.0)),
    ];
    let sections = ["llm", "llm_by_purpose.strategic", "llm_by_purpose.tactical", "llm_by_purpose.summary"];
    let in_file = |section: &&str, key: &str, file, test| Pair {
        key: format!("{section}.{key}"),
        shown: Shown::In { file, test },
    };
    let profiles = sections.iter().flat_map(|section| {
        let of_llm = ["output_cap", "context_window", "prices"];
        let known = ProfileKeys::names().map(move |key| {
            let test = match key.as_str() {
                "prefix_cache" => "a_server_without_a_prefix_cache_is_known_to_the_engine",
                "efforts" => "an_effort_that_the_model_does_not_take_is_refused",
                key if of_llm.contains(&key) => "what_is_known_of_the_model_holds_where_the_files_say_nothing",
                _ => "each_key_of_a_profile_reaches_the_client",
            };
            in_file(section, &format!("profile.{key}"), tests_of(test), test)
        });
        let lesson = "crates/engine/tests/engine/lessons/providers.rs";
        let written = in_file(section, "prices.cache_write", lesson, "lesson_47_cached_tokens_are_counted_and_priced");
        let shared = "tests/it/conversation/shared_limits.rs";
        let limits = [
            ("requests_per_minute", "requests_a_minute_are_shared_by_all_workers"),
            ("tokens_per_minute", "a_limit_of_tokens_that_is_halved_is_learnt_by_all_workers"),
            ("parallel", "parallel_requests_are_shared_by_all_workers"),
        ];
        let limits = limits.map(|(key, test)| in_file(section, &format!("limits.{key}"), shared, test));
        known.chain([written]).chain(limits).collect::<Vec<_>>()
    });
    let pairs = sections.iter().flat_map(|section| {
        // Summaries are requested without tools and without a todo list.
        let of_turns = |key: &str| matches!(key, "tool_choice" | "parallel_tool_calls" | "todo_list_position");
        let has = move |key: &str| !(of_turns(key) && section.ends_with("summary"));
        values.iter().filter(move |(key, ..)| has(key)).map(move |(key, one, other)| {
            let base = match *key {
                "timeout_s" => model_at(section, "stall"),
                "idle_timeout_s" => model_at(section, "halt"),
                _ => json!({}),
            };
            by(&format!("{section}.{key}"), base, one.clone(), other.clone())
        })
    });
    pairs.chain(profiles).collect()
}

/// The file of a test of profiles.
fn tests_of(test: &str) -> &'static str {
    match test {
        "each_key_of_a_profile_reaches_the_client" => "crates/job-setup/src/client.rs",
        "a_server_without_a_prefix_cache_is_known_to_the_engine" => "crates/job-setup/tests/setup/models.rs",
        _ => "crates/config/tests/config/profiles.rs",
    }
}

/// A model at a path of the stub that never answers, or stops in the middle.
fn model_at(section: &str, path: &str) -> Value {
    set(json!({}), &format!("{section}.base_url"), json!(format!("http://127.0.0.1:PORT/{path}")))
}

/// The follow-up job of this one.
pub(super) fn follower(resolved: &Resolved) -> String {
    let completed = [Change::Exited(JobExit::Completed { result: json!({}) })];
    format!("{:?}", next_job(Uuid::nil(), &json!({}), resolved, true, &completed).map(|job| job.job_type))
}
