//! `judge_requirements`: judges many claimed requirements in one call.

use crate::error::{Output, ToolError, ToolResult};
use crate::graph::RELATIONS;
use crate::requirements::checks::claimed_rows::Checked;
use crate::requirements::checks::of_call::validation_queue;
use crate::requirements::checks::relations::Wanted;
use crate::requirements::checks::word;
use crate::requirements::integrate_requirement::{Done, IntegrationRequest, integrate, relations_documented};
use crate::requirements::judged::{Judged, OTHERS, list};
use crate::requirements::reject_requirement::reject;
use crate::requirements::script::Script;
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{Handler, Judgement, Phases, Product, Replay, Verdict};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

/// Judges requirements that `next_requirement` gave and that you have read: one call for a whole batch. Each id is named once.
/// Accepted ones are integrated as `integrate_requirement` does, with the relations that name them; rejected and failed ones are
/// kept as `reject_requirement` does. `"accept": "rest"` accepts every requirement that you hold, that a request has shown whole, and
/// that the call names nowhere else. A requirement with a fault cannot be accepted.
///
/// Where an id is not held, was not shown, is named twice or cannot be accepted, the answer says so and the others are judged; the
/// call counts as failed, so do not repeat those that were judged. So it is where the graph goes away in the middle. A result of this same answer has not been shown yet. What is judged
/// leaves the conversation.
///
/// {arguments}
///
/// Example: `{"accept": "rest", "reject": [{"id": "r7", "reason": "It binds nobody: it describes the archive."}],
/// "relations": [{"id": "r3", "type": "IMPACTS_OBJECT", "target": "Invoice", "properties": {"rationale": "sets its retention"}}]}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgeRequirements {
    /// # Ids, or "rest"
    /// list of ids, or `"rest"`: all that you hold, have been shown whole, and do not name in this call
    accept: Option<Accepted>,
    /// list of `id` and `reason`, one sentence for the person who reads the row
    #[schemars(length(max = MOST))]
    #[serde(default)]
    reject: Vec<Refusal>,
    /// list of `id` and `reason`: those that could not be judged, which is not their fault
    #[schemars(length(max = MOST))]
    #[serde(default)]
    failed: Vec<Refusal>,
    /// list of `id` of an accepted one, `type`, `target` (id or name of a node) and `properties`; types and properties are listed below
    #[schemars(length(max = 500))]
    #[serde(default)]
    relations: Vec<Related>,
}

/// Maximum requirements in one list: as many as a job holds.
const MOST: u32 = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Accepted {
    Rest(Rest),
    Ids(#[schemars(length(max = MOST))] Vec<String>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Rest {
    Rest,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Refusal {
    id: String,
    #[schemars(length(min = 3, max = 2000))]
    #[serde(deserialize_with = "crate::requirements::reason::reason")]
    reason: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Related {
    id: String,
    r#type: String,
    #[schemars(length(min = 1, max = 500))]
    target: String,
    #[serde(default)]
    properties: Map<String, Value>,
}

impl Declared for JudgeRequirements {
    const NAME: &str = "judge_requirements";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Judge many claimed requirements that you have read at once: accept (ids or \"rest\"), reject, failed, with relations of the \
        accepted ones.";
    const HANDLER: Handler = Handler::External;
    const REPLAY: Replay = Replay::Keyed;
    const TIMEOUT_FACTOR: u32 = 5;

    /// A wrong relation is reported beside the others, so calls are not validated against the list of relations.
    fn shown(mut schema: Value) -> Value {
        schema["properties"]["relations"]["items"]["properties"]["type"]["enum"] =
            RELATIONS.map(|kind| kind.name).into_iter().collect();
        schema
    }

    fn documentation(said: String) -> String {
        format!("{said}\n\n{}", relations_documented())
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        env.rows.read(validation_queue(env)?).await?;
        let mut wrong = Vec::new();
        let verdicts = Verdicts::of(env, self, &mut wrong);
        let mut judged = Judged::default();
        let mut script = Script::over(|path| env.overlay.size(path));
        let mut judgements: Vec<Judgement> = Vec::new();
        let names = env.rows.names();
        let mut outage = None;
        for (checked, relations) in verdicts.accepted {
            let name = names.name(&checked.row);
            if let Some((_, left)) = &mut outage {
                Vec::push(left, name);
                continue;
            }
            match integrate(
                env,
                &checked,
                IntegrationRequest { relations, ..IntegrationRequest::default() },
                &mut script,
            )
            .await
            {
                Ok(Done { verdict, said, warnings, judgement }) => {
                    judged.add(verdict, name, judgement.graph_node_id.as_deref(), &said, warnings);
                    judgements.push(judgement);
                }
                Err(ToolError::Refused(why)) => wrong.push(why_not(&name, &why)),
                // Judgements already in the graph are kept and not written again; a call without any judgement waits
                // for the graph.
                Err(ToolError::Unavailable { reason, .. } | ToolError::Transient(reason)) if !judgements.is_empty() => {
                    outage = Some((reason, vec![name]));
                }
                Err(other) => return Err(other),
            }
        }
        if let Some((reason, left)) = outage {
            wrong.push(format!(
                "{} not judged and still held, judge them again: {reason}",
                are(&list(&left), left.len())
            ));
        }
        for (checked, verdict, reason) in verdicts.refused {
            judged.add(verdict, names.name(&checked.row), None, "", Vec::new());
            judgements.push(reject(env, &checked, verdict, reason, None).await);
        }
        if judgements.is_empty() && !wrong.is_empty() {
            return Err(ToolError::refused(format!("nothing was judged: {}", wrong.join("; "))));
        }
        let mut products = script.into_products();
        products.extend(judgements.into_iter().map(|judgement| Product::JudgeRequirement(Box::new(judgement))));
        let said = judged.said();
        let content = if wrong.is_empty() { said } else { format!("{}. {OTHERS}{said}", wrong.join("; ")) };
        Ok(Output { is_failed: !wrong.is_empty(), ..Output::of(content, products) })
    }
}

fn are(names: &str, count: usize) -> String {
    format!("{names} {}", if count == 1 { "is" } else { "are" })
}

/// A refusal that names the requirement once.
fn why_not(name: &str, why: &str) -> String {
    let why = why.strip_prefix("nothing was integrated; ").unwrap_or(why);
    match why.strip_prefix(&format!("requirement {name} ")) {
        Some(why) => format!("{name} {why}"),
        None => format!("{name} is not integrated, {why}"),
    }
}

/// The valid decisions of a call.
#[derive(Default)]
struct Verdicts {
    accepted: Vec<(Arc<Checked>, Vec<Wanted>)>,
    refused: Vec<(Arc<Checked>, Verdict, String)>,
}

/// A requirement that a call names.
struct Named {
    id: String,
    verdict: Option<(Verdict, String)>,
}

impl Verdicts {
    fn of(env: &ToolEnv<'_>, call: JudgeRequirements, wrong: &mut Vec<String>) -> Self {
        let JudgeRequirements { accept, reject, failed, relations } = call;
        let (ids, takes_rest) = match accept {
            Some(Accepted::Ids(ids)) if ids == ["rest"] => (Vec::new(), true),
            Some(Accepted::Ids(ids)) => (ids, false),
            Some(Accepted::Rest(Rest::Rest)) => (Vec::new(), true),
            None => (Vec::new(), false),
        };
        let is_empty = ids.is_empty() && reject.is_empty() && failed.is_empty() && !takes_rest;
        if is_empty {
            wrong.push("the call names no requirement; give `accept`, `reject` or `failed`".to_string());
        }
        let refusals = |verdict: Verdict, list: Vec<Refusal>| {
            list.into_iter().map(move |Refusal { id, reason }| Named { id, verdict: Some((verdict, reason)) })
        };
        let named = ids.into_iter().map(|id| Named { id, verdict: None });
        let named: Vec<Named> =
            named.chain(refusals(Verdict::Rejected, reject)).chain(refusals(Verdict::Failed, failed)).collect();
        let (found, mentioned) = found(env, named, wrong);
        let mut verdicts = Self::default();
        for (checked, verdict) in found {
            match verdict {
                None => verdicts.accepted.push((checked, Vec::new())),
                Some((verdict, reason)) => verdicts.refused.push((checked, verdict, reason)),
            }
        }
        if takes_rest {
            verdicts.take_rest(env, &mentioned, wrong);
        }
        relations.into_iter().for_each(|related| verdicts.relate(env, related, wrong));
        verdicts
    }

    /// Adds the rows that the job holds, that a request has shown completely, and that the call does not name.
    fn take_rest(&mut self, env: &ToolEnv<'_>, mentioned: &BTreeSet<Uuid>, wrong: &mut Vec<String>) {
        let mut rest = env.rows.all();
        rest.retain(|checked| {
            let id = checked.row.id;
            let is_open = !env.overlay.judged().contains_key(&id) && !mentioned.contains(&id);
            is_open && env.ctx.given.shown(id) == Some(true)
        });
        if rest.is_empty() {
            wrong.push(
                "\"rest\" is none: no requirement is held, was shown whole by a request, and is not named here; next_requirement \
                 gives the next"
                    .to_string(),
            );
        }
        self.accepted.extend(rest.into_iter().map(|checked| (checked, Vec::new())));
    }

    fn relate(&mut self, env: &ToolEnv<'_>, related: Related, wrong: &mut Vec<String>) {
        let Related { id, r#type, target, properties } = related;
        let rows: BTreeSet<Uuid> = env.rows.known(id.trim()).iter().map(|checked| checked.row.id).collect();
        match self.accepted.iter_mut().find(|(checked, _)| rows.contains(&checked.row.id)) {
            Some((_, relations)) => relations.push(Wanted { r#type, target, properties }),
            None => wrong.push(format!("the relation of {id} leads nowhere: this call does not accept {id}")),
        }
    }
}

/// Validly named rows with their decision; none: accepted.
type Found = Vec<(Arc<Checked>, Option<(Verdict, String)>)>;

/// The rows that the call names, each once, and all rows that it mentions in any way.
fn found(env: &ToolEnv<'_>, named: Vec<Named>, wrong: &mut Vec<String>) -> (Found, BTreeSet<Uuid>) {
    let mut times: BTreeMap<Uuid, u32> = BTreeMap::new();
    let mut found: Found = Vec::new();
    for Named { id, verdict } in named {
        let rows = env.rows.known(id.trim());
        rows.iter().for_each(|checked| *times.entry(checked.row.id).or_default() += 1);
        match one_of(env, &id, rows) {
            Ok(checked) => found.push((checked, verdict)),
            Err(why) => wrong.push(why),
        }
    }
    let names = env.rows.names();
    let twice: BTreeSet<Uuid> = times.iter().filter(|(_, times)| **times > 1).map(|(id, _)| *id).collect();
    let mut told = BTreeSet::new();
    found.retain(|(checked, _)| {
        let id = checked.row.id;
        if twice.contains(&id) && told.insert(id) {
            wrong.push(format!("{} is named twice", names.name(&checked.row)));
        }
        !twice.contains(&id)
    });
    (found, times.into_keys().collect())
}

/// The single row with this id, held, shown and not judged.
fn one_of(env: &ToolEnv<'_>, id: &str, mut rows: Vec<Arc<Checked>>) -> Result<Arc<Checked>, String> {
    if rows.len() > 1 {
        return Err(format!("{id} is that of {} rows, from several jobs; give the id that was shown", rows.len()));
    }
    let checked = rows.pop().ok_or_else(|| format!("{id} is not held by this job"))?;
    if let Some(verdict) = env.overlay.judged().get(&checked.row.id) {
        return Err(format!("{id} was judged earlier in this turn: {}", word(*verdict)));
    }
    match env.ctx.given.shown(checked.row.id) {
        Some(_) => Ok(checked),
        None => Err(format!("{id} has not been shown by a request yet")),
    }
}
