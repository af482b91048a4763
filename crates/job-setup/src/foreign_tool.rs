//! The tools known only at run time, as the models of the job types see them.

use crate::engine_settings;
use plumbline_config::{ConfigRegistry, ModelEnv, http_tools::is_foreign};
use plumbline_engine::ToolSpec;
use serde_json::json;

/// A tool that is known only at run time, as a job type's model sees it.
#[derive(Clone, Debug)]
pub struct ForeignTool {
    /// The job type.
    pub job_type: String,
    /// The definition that is sent; its phases are those in which it is bound.
    pub spec: ToolSpec,
    /// The size of its definition in each request, in tokens of the type's model.
    pub tokens: u32,
    /// Whether it is loaded only on demand.
    pub is_deferred: bool,
}

/// All job types' tools that are known only at run time. Types that cannot be resolved have none.
pub fn foreign_tools_by_type(configs: &ConfigRegistry, env: &ModelEnv) -> Vec<ForeignTool> {
    configs.job_types().into_iter().flat_map(|job_type| of_type(configs, job_type, env)).collect()
}

fn of_type(configs: &ConfigRegistry, job_type: &str, env: &ModelEnv) -> Vec<ForeignTool> {
    let shown = configs.show(job_type, &json!({}), env).ok();
    let Some(resolved) = shown.filter(|resolved| resolved.config.connections.http_tools.is_some()) else {
        return Vec::new();
    };
    let Ok(settings) = engine_settings(&resolved, &[]) else { return Vec::new() };
    let foreign = settings.tools.iter().filter(|tool| is_foreign(&tool.name));
    let shown = |tool: &ToolSpec| ForeignTool {
        job_type: job_type.to_owned(),
        tokens: tool.tokens(|text| (settings.count_tokens)(text)),
        is_deferred: settings.deferred.contains(&tool.name),
        spec: tool.clone(),
    };
    foreign.map(shown).collect()
}
