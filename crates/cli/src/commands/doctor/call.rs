//! Whether each model of a job type calls a tool on request: one request each, like a job's.

use super::finding::Finding;
use crate::environment;
use plumbline_config::{ConfigRegistry, Llm, Secrets};
use plumbline_engine::Purpose;
use plumbline_worker::try_call;
use serde_json::json;

pub(super) async fn findings(configs: &ConfigRegistry) -> Vec<Finding> {
    let Ok(env) = environment::model_env() else { return Vec::new() };
    let mut llms: Vec<Llm> = Vec::new();
    for job_type in configs.job_types() {
        let Ok(resolved) = configs.show(job_type, &json!({}), &env) else { continue };
        let of_type = [Purpose::Strategic, Purpose::Tactical, Purpose::Summary].map(|purpose| resolved.llm(purpose));
        let asked = of_type.into_iter().filter(|llm| llm.model.is_some() && llm.base_url.is_some());
        for llm in asked {
            if !llms.contains(&llm) {
                llms.push(llm);
            }
        }
    }
    let secrets = Secrets::of(configs, &env);
    let mut findings = Vec::new();
    for llm in &llms {
        findings.push(finding(llm, &secrets).await);
    }
    findings
}

async fn finding(llm: &Llm, secrets: &Secrets) -> Finding {
    let model = llm.model.as_deref().unwrap_or_default();
    match try_call(llm, secrets).await {
        Ok(reply) => {
            let record = &reply.record;
            let how = format!(
                "{model} at {} ({}, {} ms)",
                record.endpoint.as_deref().unwrap_or_default(),
                record.api.as_deref().unwrap_or_default(),
                record.duration_ms
            );
            match reply.tool_calls.first() {
                Some(call) => Finding::ok("call", format!("{how} called the tool {}", call.name)),
                None => Finding::note(
                    "call",
                    format!(
                        "{how} answered without calling the tool; jobs need tool calls, so choose a model that \
                         supports them"
                    ),
                ),
            }
        }
        Err(failure) => {
            let hint = failure.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            Finding::fail("call", format!("{model}: {}{hint}", failure.message))
        }
    }
}
