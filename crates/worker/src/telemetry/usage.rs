//! Tokens as the GenAI conventions count them: one histogram by type up to v1.41, a counter and a histogram each since.

use super::{list, names::Generation};
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Histogram},
};
use plumbline_engine::RequestRecord;

/// Who builds an instrument from the list.
pub(super) trait Build {
    fn counter(&self, item: &'static list::Item) -> Counter<u64>;
    fn tokens(&self, item: &'static list::Item) -> Histogram<u64>;
}

/// The instruments of the generation that is spoken.
pub(super) enum Usage {
    V1_41(Histogram<u64>),
    Latest(Box<Latest>),
}

pub(super) struct Latest {
    input: Counter<u64>,
    output: Counter<u64>,
    cached: Counter<u64>,
    reasoning: Counter<u64>,
    request_input: Histogram<u64>,
    request_output: Histogram<u64>,
}

impl Usage {
    pub(super) fn of(build: &impl Build, generation: Generation) -> Self {
        match generation {
            Generation::V1_41 => Self::V1_41(build.tokens(&list::USAGE)),
            Generation::Latest => Self::Latest(Box::new(Latest {
                input: build.counter(&list::INPUT),
                output: build.counter(&list::OUTPUT),
                cached: build.counter(&list::CACHED),
                reasoning: build.counter(&list::REASONING),
                request_input: build.tokens(&list::REQUEST_INPUT),
                request_output: build.tokens(&list::REQUEST_OUTPUT),
            })),
        }
    }

    /// A request's tokens.
    pub(super) fn record(&self, record: &RequestRecord, attributes: &[KeyValue]) {
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
