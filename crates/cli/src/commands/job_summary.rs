//! The results for a document in one table: from its pages to the requirements in the graph.

use crate::{
    error::Failure,
    output::{self, short, thousands},
};
use plumbline_store::{JobDetail, RequirementRow, Store};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The files in which a validator without a graph writes its statements: the first, and the prefix of further parts.
const SCRIPT: &str = "output/insert.cypher";
const FURTHER_PART: &str = "output/insert_part_";
/// Maximum number of listed reasons for rejection.
const SHOWN_REASONS: usize = 5;

/// Prints the table of a job and of its validator job, if there is one.
pub(crate) async fn print(store: &Store, job: Uuid, validator: Option<Uuid>) -> Result<(), Failure> {
    let requirements = store.requirements_of(job).await?;
    let sources = store.sources(job).await?;
    let files = store.file_index(job).await?;
    let pages: i64 = sources.iter().filter_map(|source| source.pages).map(i64::from).sum();
    let chunks = files.iter().filter(|file| file.path.starts_with("chunks/chunk_")).count();
    let mut table = output::table(&["", "count", ""]);
    let mut row = |what: &str, count: String, remark: String| {
        table.add_row([what.to_string(), count, remark]);
    };
    row("documents", sources.len().to_string(), String::new());
    row("pages", thousands(pages), String::new());
    row("chunks", thousands(chunks), String::new());
    row("requirements", thousands(requirements.len()), String::new());
    row("verified citations", thousands(requirements.iter().map(verified).sum::<usize>()), String::new());
    for status in ["integrated", "pending", "rejected", "failed", "validating"] {
        let rows: Vec<&RequirementRow> = requirements.iter().filter(|row| row.status == status).collect();
        if !rows.is_empty() || status == "integrated" || status == "rejected" {
            row(status, thousands(rows.len()), remark(status, &rows));
        }
    }
    let statements = match validator {
        Some(validator) => statements_of(store, validator).await?,
        None => None,
    };
    row("graph", String::new(), graph(&requirements, statements));
    for id in [job].into_iter().chain(validator) {
        if let Some(detail) = store.job_detail(id).await? {
            row(&detail.job_type, detail.status.clone(), effort(&detail));
        }
    }
    output::print(&table.to_string())
}

/// How many of a requirement's citations were found in the source.
pub(crate) fn verified(requirement: &RequirementRow) -> usize {
    let citations = requirement.citations.as_array().map(Vec::as_slice).unwrap_or_default();
    citations.iter().filter(|citation| citation.get("verified") == Some(&true.into())).count()
}

/// The reasons, for requirements that are not in the graph.
fn remark(status: &str, rows: &[&RequirementRow]) -> String {
    if status == "pending" {
        let accepted = rows.iter().filter(|row| integration(row) == Some("switched off")).count();
        return match accepted {
            0 => String::new(),
            _ => format!("{} of them passed validation and wait for a graph", thousands(accepted)),
        };
    }
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for reason in rows.iter().filter_map(|row| row.rejection_reason.as_ref().or(row.last_error.as_ref())) {
        // A duplicate's reason names the other requirement; only the kind of reason counts here.
        let kind = reason.split(" of ").next().unwrap_or(reason);
        *reasons.entry(short(kind, 60)).or_default() += 1;
    }
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let listed: Vec<String> =
        reasons.into_iter().take(SHOWN_REASONS).map(|(reason, count)| format!("{count} × {reason}")).collect();
    listed.join("\n")
}

fn integration(row: &RequirementRow) -> Option<&str> {
    row.validation_result.as_ref()?.get("integration")?.as_str()
}

/// The requirements in the graph by type; or, without a graph, the path of the statements for it.
fn graph(requirements: &[RequirementRow], statements: Option<usize>) -> String {
    let integrated: Vec<&RequirementRow> = requirements.iter().filter(|row| row.graph_node_id.is_some()).collect();
    if !integrated.is_empty() {
        let mut relations: BTreeMap<&str, usize> = BTreeMap::new();
        for relation in integrated.iter().filter_map(|row| row.validation_result.as_ref()?.get("relations")?.as_array())
        {
            for name in relation.iter().filter_map(|relation| relation.get("type")?.as_str()) {
                *relations.entry(name).or_default() += 1;
            }
        }
        let all: usize = relations.values().sum();
        let mut text = format!("{} Requirement nodes, {} relations", thousands(integrated.len()), thousands(all));
        for (name, n) in relations {
            text.push_str(&format!("\n{} × {name}", thousands(n)));
        }
        return text;
    }
    match statements {
        Some(statements) => format!(
            "integration is switched off (no `connections.neo4j`);\n{SCRIPT} of the validator has {} statements",
            thousands(statements)
        ),
        None => "nothing was integrated".into(),
    }
}

/// How many statements a validator's script has; none without a script.
async fn statements_of(store: &Store, validator: Uuid) -> Result<Option<usize>, Failure> {
    let mut count = None;
    for file in store.file_index(validator).await? {
        if (file.path == SCRIPT || file.path.starts_with(FURTHER_PART))
            && let Some(script) = store.read_file(validator, &file.path).await?
        {
            count = Some(count.unwrap_or(0) + statements(&script));
        }
    }
    Ok(count)
}

/// A statement ends with a semicolon at the end of a line; values are literals on one line.
fn statements(script: &[u8]) -> usize {
    String::from_utf8_lossy(script).lines().filter(|line| line.ends_with(';') && !line.starts_with("//")).count()
}

fn effort(detail: &JobDetail) -> String {
    let seconds = match (detail.started_at, detail.completed_at) {
        (Some(from), Some(to)) => (to - from).num_milliseconds() as f64 / 1000.0,
        _ => 0.0,
    };
    let tokens = thousands(detail.total_tokens_used);
    let problem = detail.error_message.as_ref().or(detail.status_reason.as_ref());
    let problem = problem.map(|problem| format!(": {problem}")).unwrap_or_default();
    format!("{seconds:.1} s, {} model requests, {tokens} tokens{problem}", thousands(detail.total_requests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn row(status: &str, reason: Option<&str>, validation_result: Value) -> RequirementRow {
        let now = chrono::Utc::now();
        RequirementRow {
            id: Uuid::nil(),
            candidate_id: None,
            text: "Invoices must be kept.".into(),
            name: None,
            r#type: None,
            priority: None,
            source_document: None,
            source_location: None,
            gobd_relevant: false,
            gdpr_relevant: false,
            citations: json!([{"verified": true}, {"verified": false}]).into(),
            mentioned_objects: json!([]).into(),
            mentioned_messages: json!([]).into(),
            reasoning: None,
            research_notes: None,
            confidence: 0.5,
            status: status.into(),
            validation_result: Some(validation_result.into()),
            graph_node_id: (status == "integrated").then(|| "R-0001".into()),
            rejection_reason: reason.map(str::to_owned),
            retry_count: 0,
            last_error: None,
            created_at: now,
            updated_at: now,
            validated_at: None,
            tags: json!([]).into(),
        }
    }

    #[test]
    fn duplicates_of_different_requirements_are_one_reason() {
        let rows = [
            row("rejected", Some("It is a duplicate of R-0001 'a' (similarity 1.00)."), Value::Null),
            row("rejected", Some("It is a duplicate of R-0002 'b' (similarity 0.97)."), Value::Null),
            row("rejected", Some("It has no name."), Value::Null),
        ];
        let rows: Vec<&RequirementRow> = rows.iter().collect();
        assert_eq!(remark("rejected", &rows), "2 × It is a duplicate\n1 × It has no name.");
        assert_eq!(verified(rows[0]), 1);
    }

    #[test]
    fn the_graph_line_says_what_is_there_or_why_nothing_is() {
        let integrated = row(
            "integrated",
            None,
            json!({"integration": "done", "relations": [
            {"type": "RELATES_TO_OBJECT", "target": "BO-1"}, {"type": "IMPACTS_OBJECT", "target": "BO-1"},
            {"type": "RELATES_TO_OBJECT", "target": "BO-2"}]}),
        );
        let said = "1 Requirement nodes, 3 relations\n1 × IMPACTS_OBJECT\n2 × RELATES_TO_OBJECT";
        assert_eq!(graph(&[integrated], None), said);
        let accepted = row("pending", None, json!({"integration": "switched off"}));
        let script = "// A comment;\nCREATE CONSTRAINT a;\n\nMERGE (r)\nSET r.text = 'one; two';\n";
        let said = graph(std::slice::from_ref(&accepted), Some(statements(script.as_bytes())));
        assert!(said.starts_with("integration is switched off") && said.ends_with("has 2 statements"), "{said}");
        assert_eq!(remark("pending", &[&accepted]), "1 of them passed validation and wait for a graph");
        assert_eq!(graph(&[row("rejected", None, Value::Null)], None), "nothing was integrated");
    }
}
