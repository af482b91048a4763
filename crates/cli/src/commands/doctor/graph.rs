//! The graphs of all job types: whether they answer, and the user's rights on their servers. A graph is optional:
//! problems are reported but do not fail the command.

use super::finding::Finding;
use plumbline_config::{ConfigRegistry, ModelEnv, Neo4j, Secrets};
use plumbline_tools::graph::Rights;
use plumbline_worker::graph_rights;
use serde_json::json;

/// The tool that writes independently of queries' permissions.
const WRITER: &str = "integrate_requirement";

pub(super) async fn findings(configs: &ConfigRegistry, env: &ModelEnv) -> Vec<Finding> {
    let secrets = Secrets::of(configs, env);
    let mut findings = Vec::new();
    for (neo4j, writes) in graphs(configs, env) {
        findings.push(match graph_rights(&neo4j, &secrets).await {
            Ok((place, rights)) => finding(&place, &rights, writes),
            Err(reason) => Finding::note("graph", reason),
        });
    }
    findings
}

/// Each graph of a job type, and whether a job type must write to it.
fn graphs(configs: &ConfigRegistry, env: &ModelEnv) -> Vec<(Neo4j, bool)> {
    let mut graphs: Vec<(Neo4j, bool)> = Vec::new();
    for job_type in configs.job_types() {
        // Another check reports types that do not resolve.
        let Ok(resolved) = configs.show(job_type, &json!({}), env) else { continue };
        let Some(neo4j) = resolved.config.connections.neo4j.clone() else { continue };
        let writes = neo4j.allow_write.unwrap_or(false) || resolved.config.tools.all().any(|name| name == WRITER);
        match graphs.iter_mut().find(|(known, _)| *known == neo4j) {
            Some((_, known)) => *known |= writes,
            None => graphs.push((neo4j, writes)),
        }
    }
    graphs
}

fn finding(place: &str, rights: &Rights, writes: bool) -> Finding {
    let server = format!("{place} answers, Neo4j {} {}", rights.version, rights.edition);
    if rights.actions.is_none() {
        let text = format!(
            "{server}: this edition has no roles: the user may do everything, and the query guard is the only wall \
             between the model and the graph; use a separate server without secrets, isolated from other networks"
        );
        return Finding::note("graph", text);
    }
    let (beyond, writing) = (rights.beyond(), rights.writing());
    if !beyond.is_empty() {
        let text = format!(
            "{server}: the user may {}, which no query of a job needs; give the user a role that may only read{}",
            beyond.join(", "),
            if writes { " and write" } else { "" }
        );
        return Finding::note("graph", text);
    }
    match (writes, writing.is_empty()) {
        (true, true) => Finding::note(
            "graph",
            format!(
                "{server}: the user may not write, but {WRITER} must; grant a role that may write, or remove the tool"
            ),
        ),
        (false, false) => Finding::note(
            "graph",
            format!(
                "{server}: the user may {}, but no job type writes to the graph; give the user a read-only role",
                writing.join(", ")
            ),
        ),
        (true, false) => Finding::ok("graph", format!("{server}; the user may read and write")),
        (false, true) => Finding::ok("graph", format!("{server}; the user may read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Verdict;

    fn rights(actions: Option<&[&str]>) -> Rights {
        let actions = actions.map(|actions| actions.iter().map(|action| (*action).to_owned()).collect());
        Rights { edition: "enterprise".into(), version: "5.26.0".into(), actions }
    }

    #[test]
    fn a_user_has_the_rights_that_jobs_need_and_no_more() {
        let of = |actions: Option<&[&str]>, writes| finding("http://a", &rights(actions), writes);
        for (actions, writes, verdict, words) in [
            (None, true, Verdict::Note, "this edition has no roles"),
            (Some(&["access", "match"][..]), false, Verdict::Ok, "the user may read"),
            (Some(&["access", "match", "write"][..]), true, Verdict::Ok, "may read and write"),
            (Some(&["access", "match", "write"][..]), false, Verdict::Note, "no job type writes"),
            (Some(&["access", "match"][..]), true, Verdict::Note, "integrate_requirement must"),
            (Some(&["match", "write", "load_all_data"][..]), true, Verdict::Note, "may load_all_data"),
            (Some(&["match", "dbms_actions"][..]), false, Verdict::Note, "may dbms_actions"),
        ] {
            let found = of(actions, writes);
            assert!(found.verdict == verdict && found.text.contains(words), "{found:?}");
        }
    }
}
