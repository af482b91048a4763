//! Tokens as the GenAI conventions count them: one histogram by type up to v1.41, a counter and a histogram each since.

use super::names::Generation;
use crate::metrics;
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Histogram},
};
use plumbline_engine::RequestRecord;

/// Builds instruments from the list.
pub(crate) trait Build {
    fn counter(&self, item: &'static metrics::Item) -> Counter<u64>;
    fn tokens(&self, item: &'static metrics::Item) -> Histogram<u64>;
}

/// The instruments of the configured generation.
pub(crate) enum Usage {
    V1_41(Histogram<u64>),
    Latest(Box<Latest>),
}

pub(crate) struct Latest {
    input: Counter<u64>,
    output: Counter<u64>,
    cached: Counter<u64>,
    reasoning: Counter<u64>,
    request_input: Histogram<u64>,
    request_output: Histogram<u64>,
}

impl Usage {
    pub(crate) fn of(build: &impl Build, generation: Generation) -> Self {
        match generation {
            Generation::V1_41 => Self::V1_41(build.tokens(&metrics::USAGE)),
            Generation::Latest => Self::Latest(Box::new(Latest {
                input: build.counter(&metrics::INPUT),
                output: build.counter(&metrics::OUTPUT),
                cached: build.counter(&metrics::CACHED),
                reasoning: build.counter(&metrics::REASONING),
                request_input: build.tokens(&metrics::REQUEST_INPUT),
                request_output: build.tokens(&metrics::REQUEST_OUTPUT),
            })),
        }
    }

    /// A request's tokens.
    pub(crate) fn record(&self, record: &RequestRecord, attributes: &[KeyValue]) {
        let (input, output) = (u64::from(record.prompt_tokens), u64::from(record.completion_tokens));
        match self {
            Self::V1_41(usage) => {
                for (kind, tokens) in [("input", input), ("output", output)] {
                    let kind = KeyValue::new("gen_ai.token.type", kind);
                    usage.record(tokens, &[attributes, &[kind]].concat());
                }
            }
            Self::Latest(set) => {
                set.input.add(input, attributes);
                set.output.add(output, attributes);
                set.cached.add(u64::from(record.cached_tokens), attributes);
                set.reasoning.add(u64::from(record.reasoning_tokens), attributes);
                set.request_input.record(input, attributes);
                set.request_output.record(output, attributes);
            }
        }
    }
}
