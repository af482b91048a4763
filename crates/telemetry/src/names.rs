//! The mapping between our names and those of OpenTelemetry's GenAI conventions.
//!
//! Code and logs use our own names (`job.id`, `tool.name`). Spans get the standard's names on export, only from this
//! table. The conventions are still in development, so there are two columns: v1.41, the last release of the main
//! repository and the default, and the latest, enabled by `gen_ai_latest_experimental` in
//! `OTEL_SEMCONV_STABILITY_OPT_IN`.

use std::borrow::Cow;

/// The generation of the conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    /// v1.41.
    V1_41,
    /// The latest, still changing.
    Latest,
}

impl Generation {
    /// From the value of `OTEL_SEMCONV_STABILITY_OPT_IN`, a comma-separated list.
    pub(crate) fn of(opt_in: Option<&str>) -> Self {
        let asked = |wish: &str| wish.trim() == "gen_ai_latest_experimental";
        if opt_in.is_some_and(|list| list.split(',').any(asked)) { Self::Latest } else { Self::V1_41 }
    }
}

/// One thing and its names.
struct Name {
    ours: &'static str,
    v1_41: &'static str,
    latest: &'static str,
}

const fn same(ours: &'static str, theirs: &'static str) -> Name {
    Name { ours, v1_41: theirs, latest: theirs }
}

const fn moved(ours: &'static str, v1_41: &'static str, latest: &'static str) -> Name {
    Name { ours, v1_41, latest }
}

const NAMES: [Name; 39] = [
    same("operation", "gen_ai.operation.name"),
    same("agent.name", "gen_ai.agent.name"),
    same("conversation.id", "gen_ai.conversation.id"),
    same("model.provider", "gen_ai.provider.name"),
    same("model.name", "gen_ai.request.model"),
    same("model.max_tokens", "gen_ai.request.max_tokens"),
    same("model.temperature", "gen_ai.request.temperature"),
    same("model.finish_reasons", "gen_ai.response.finish_reasons"),
    same("model.input_tokens", "gen_ai.usage.input_tokens"),
    same("model.output_tokens", "gen_ai.usage.output_tokens"),
    same("model.cached_tokens", "gen_ai.usage.cache_read.input_tokens"),
    same("model.reasoning_tokens", "gen_ai.usage.reasoning.output_tokens"),
    same("model.host", "server.address"),
    same("model.port", "server.port"),
    same("model.input_messages", "gen_ai.input.messages"),
    same("model.output_messages", "gen_ai.output.messages"),
    same("tool.name", "gen_ai.tool.name"),
    same("tool.call_id", "gen_ai.tool.call.id"),
    same("tool.type", "gen_ai.tool.type"),
    same("error.type", "error.type"),
    same("job.id", "plumbline.job.id"),
    same("job.type", "plumbline.job.type"),
    same("job.attempt", "plumbline.job.attempt"),
    same("job.lease_epoch", "plumbline.job.lease_epoch"),
    same("worker.id", "plumbline.worker.id"),
    same("step", "plumbline.step"),
    same("n_changes", "plumbline.commit.changes"),
    same("commit.retries", "plumbline.commit.retries"),
    same("n_files", "plumbline.mirror.files"),
    same("model.attempt", "plumbline.model.attempt"),
    same("model.cost_usd", "plumbline.model.cost_usd"),
    moved("metric.model_duration", "gen_ai.client.operation.duration", "gen_ai.client.inference.duration"),
    same("metric.token_usage", "gen_ai.client.token.usage"),
    same("metric.input_tokens", "gen_ai.client.inference.usage.input_tokens"),
    same("metric.output_tokens", "gen_ai.client.inference.usage.output_tokens"),
    same("metric.cached_tokens", "gen_ai.client.inference.usage.cache_read.input_tokens"),
    same("metric.reasoning_tokens", "gen_ai.client.inference.usage.reasoning.output_tokens"),
    same("metric.request_input", "gen_ai.client.inference.operation.input_tokens"),
    same("metric.request_output", "gen_ai.client.inference.operation.output_tokens"),
];

/// The standard's name for one of ours; unknown names are kept.
pub(crate) fn theirs(ours: &str, generation: Generation) -> Cow<'_, str> {
    let found = NAMES.iter().find(|name| name.ours == ours);
    found.map_or(Cow::Borrowed(ours), |name| match generation {
        Generation::V1_41 => Cow::Borrowed(name.v1_41),
        Generation::Latest => Cow::Borrowed(name.latest),
    })
}

#[cfg(test)]
mod tests {
    use super::{Generation, NAMES, theirs};
    use std::collections::BTreeSet;

    #[test]
    fn each_thing_has_one_name_in_each_generation() {
        let ours: BTreeSet<&str> = NAMES.iter().map(|name| name.ours).collect();
        assert_eq!(ours.len(), NAMES.len());
        let spans = || NAMES.iter().filter(|name| !name.ours.starts_with("metric."));
        let theirs_of: BTreeSet<&str> = spans().map(|name| name.v1_41).collect();
        assert_eq!(theirs_of.len(), spans().count());
    }

    #[test]
    fn the_generation_is_the_operators_choice() {
        for (opt_in, generation) in [
            (None, Generation::V1_41),
            (Some("http"), Generation::V1_41),
            (Some("http, gen_ai_latest_experimental"), Generation::Latest),
        ] {
            assert_eq!(Generation::of(opt_in), generation, "{opt_in:?}");
        }
        assert_eq!(theirs("metric.model_duration", Generation::V1_41), "gen_ai.client.operation.duration");
        assert_eq!(theirs("metric.model_duration", Generation::Latest), "gen_ai.client.inference.duration");
        assert_eq!(theirs("tool.name", Generation::Latest), "gen_ai.tool.name");
        assert_eq!(theirs("of.no.standard", Generation::Latest), "of.no.standard");
    }
}
