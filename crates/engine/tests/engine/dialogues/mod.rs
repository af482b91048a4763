//! Dialogues: each arrow of the design's section 3.

mod budgets;
mod calls;
mod completion;
mod context;
mod discovery;
mod failures;
mod feedback;
mod flow;
mod guardrails;
mod misbehaviour;
mod outages;
mod progress;
mod rewind;
mod todos;
