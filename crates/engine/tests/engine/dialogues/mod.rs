//! Dialogues: each arrow of the design's section 3.

mod approvals;
mod budgets;
mod calls;
mod closed_todos;
mod completion;
mod context;
mod coverage;
mod discovery;
mod endings;
mod evidence;
mod failures;
mod fallbacks;
mod feedback;
mod flow;
mod guardrails;
mod judging;
mod misbehaviour;
mod order;
mod outages;
mod progress;
mod records;
mod rewind;
mod rework;
mod todos;
mod untrusted;
