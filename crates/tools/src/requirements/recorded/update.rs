//! `update_requirement`: corrects a record; its quotes are checked as for a new one.

use super::pending;
use crate::arguments::decode;
use crate::documents::document_names::resolve;
use crate::error::{Output, ToolError, ToolResult};
use crate::requirements::add_requirement::{
    AddRequirement, Evidence, MIN_TEXT_CHARS, citation, distinct, evidence, key, same_words::is_same_quote,
};
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{Citation, Phases, Product, Requirement, RequirementChange};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Puts right what a requirement of this job says: its name, type, priority, text, place, citations or any other field of
/// `add_requirement`. Fields that are not named stay. `citations` replaces all of them, or adds to them as
/// `{"add": [{"passage": 7, "from": 5}]}`; each quote is verified as by `add_requirement`, and if one does not occur in its source,
/// nothing changes. Of `source_location` the
/// parts that are given are replaced. The id stays, whatever the text becomes. Only while the requirement is `pending`; what
/// it said before is kept with the reason.
///
/// {arguments}
///
/// Example: `{"id": "req_1a2b3c4d5e6f", "fields": {"priority": "low", "source_location": {"section": "4.2"}},
/// "reason": "the sentence says may"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateRequirement {
    /// # Its id: r12 or req_…
    /// its id, `r12` or `req_…`, as add_requirement, record_passage and list_requirements give it
    #[schemars(length(min = 1, max = 100))]
    id: String,
    /// # The fields that change, as add_requirement takes them
    /// an object with the fields that change
    #[schemars(schema_with = "fields", extend("minProperties" = 1))]
    fields: Map<String, Value>,
    /// # Why, one sentence
    /// why, one sentence
    #[schemars(length(min = 3, max = 2000))]
    #[serde(deserialize_with = "crate::requirements::reason::reason")]
    reason: String,
}

impl Declared for UpdateRequirement {
    const NAME: &str = "update_requirement";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Put right fields of a requirement that this job recorded, while it is pending. Quotes are \
        verified.";

    fn shown(mut schema: Value) -> Value {
        // The request contains the fields once, with `add_requirement`.
        for (_, argument) in schema["properties"].as_object_mut().into_iter().flatten() {
            if let Some(argument) = argument.as_object_mut() {
                argument.retain(|key, _| matches!(key.as_str(), "type" | "description"));
            }
        }
        schema
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { id, fields, reason } = self;
        let former = pending(env, &id).await?;
        let (citations, put_right) = cited(env, &fields).await?;
        let becomes = changed(env, &former, fields, citations.as_deref()).await?;
        let fields = difference(&former, &becomes)?;
        if fields.is_empty() {
            return Ok(Output::text(format!("{} says that already; nothing changed", former.candidate_id)));
        }
        if fields.contains_key("text")
            && let Some(known) = env.overlay.requirement(&becomes.content_key).await?
            && known != former.candidate_id
        {
            return Err(ToolError::refused(format!(
                "nothing was changed; {known} has this text already: withdraw one of the two"
            )));
        }
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        let content = format!("updated {}: {} ({}{put_right})", becomes.candidate_id, becomes.name, names.join(", "));
        let mut products: Vec<Product> = citations.into_iter().flatten().map(Product::AddCitation).collect();
        let candidate_id = former.candidate_id;
        let change = RequirementChange { candidate_id, reason, becomes: Some(Box::new(becomes)), fields };
        products.push(Product::ChangeRequirement(Box::new(change)));
        Ok(Output::of(content, products))
    }
}

/// The fields of `add_requirement`, of which the citations may be added to the existing ones.
fn fields(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = AddRequirement::json_schema(generator);
    if let Some(citations) = schema.pointer_mut("/properties/citations") {
        let (list, said) = (citations.clone(), citations["description"].clone());
        let add =
            json!({"type": "object", "properties": {"add": list}, "required": ["add"], "additionalProperties": false});
        *citations = json!({"description": said, "anyOf": [list, add]});
    }
    schema
}

/// The given citations, verified, and their corrections.
async fn cited(env: &ToolEnv<'_>, fields: &Map<String, Value>) -> Result<(Option<Vec<Citation>>, String), ToolError> {
    let Some(given) = fields.get("citations") else { return Ok((None, String::new())) };
    let given: Vec<Evidence> = decode(added(given).unwrap_or(given).clone())?;
    let mut citations = Vec::with_capacity(given.len());
    let mut put_right = String::new();
    for (place, evidence) in given.iter().enumerate() {
        let verified = citation(env, evidence).await;
        let verified = verified.map_err(|error| error.at(format_args!("nothing was changed; citations[{place}]")))?;
        put_right.extend(verified.put_right.map(|put_right| format!("; citations[{place}]: {put_right}")));
        citations.push(verified.citation);
    }
    Ok((Some(citations), put_right))
}

/// The citations to add to the existing ones.
fn added(citations: &Value) -> Option<&Value> {
    citations.get("add")
}

/// The row's new citations.
fn quotes(former: &Value, cited: &[Citation], is_added: bool) -> Value {
    let new = cited.iter().map(evidence);
    let (true, Some(former)) = (is_added, former.as_array()) else { return new.collect() };
    let mut quotes = former.clone();
    for quote in new {
        if !quotes.iter().any(|known| is_same_quote(known, &quote)) {
            quotes.push(quote);
        }
    }
    quotes.into()
}

/// The requirement with the given fields.
async fn changed(
    env: &ToolEnv<'_>,
    former: &Requirement,
    mut fields: Map<String, Value>,
    citations: Option<&[Citation]>,
) -> Result<Requirement, ToolError> {
    let mut becomes = former.clone();
    if let Some(citations) = citations {
        let is_added = fields.get("citations").is_some_and(|given| added(given).is_some());
        let keeps = is_added && former.citations.as_array().is_some_and(|quotes| !quotes.is_empty());
        becomes.citations = quotes(&former.citations, citations, is_added);
        // If the page was that of the old quote, it becomes that of the new quote.
        let page = citations.first().filter(|_| !keeps).and_then(|citation| citation.page);
        if let (Some(location), Some(page)) = (becomes.source_location.as_object_mut(), page) {
            location.insert("page".into(), page.into());
        }
        fields.remove("citations");
    }
    if let Some(Value::Object(given)) = fields.remove("source_location") {
        match becomes.source_location.as_object_mut() {
            Some(location) => location.extend(given),
            None => becomes.source_location = Value::Object(given),
        }
    }
    if let Some(Value::String(name)) = fields.remove("source_document") {
        becomes.source_document = Some(resolve(env.overlay, &name).await?.path.clone());
    }
    let mut whole = object(&becomes)?;
    whole.extend(fields);
    let mut becomes: Requirement = decode(Value::Object(whole))?;
    for text in [&mut becomes.text, &mut becomes.name] {
        *text = text.trim().to_owned();
    }
    if key::normalized(&becomes.text).chars().count() < MIN_TEXT_CHARS {
        return Err(ToolError::refused(format!(
            "nothing was changed; `text` has fewer than {MIN_TEXT_CHARS} characters besides white space"
        )));
    }
    for names in [&mut becomes.mentioned_objects, &mut becomes.mentioned_messages, &mut becomes.tags] {
        *names = distinct(std::mem::take(names));
    }
    if becomes.text != former.text {
        becomes.content_key = key::of(&becomes.text);
    }
    Ok(becomes)
}

/// The changed columns with their new values.
fn difference(former: &Requirement, becomes: &Requirement) -> Result<Map<String, Value>, ToolError> {
    let former = object(former)?;
    let mut fields = object(becomes)?;
    fields.remove("content_key");
    fields.retain(|column, value| former.get(column) != Some(value));
    Ok(fields)
}

fn object(requirement: &Requirement) -> Result<Map<String, Value>, ToolError> {
    decode(serde_json::to_value(requirement).map_err(|error| ToolError::refused(error.to_string()))?)
}
