//! The fate of the calls of one answer: a reference model of the rules of order, written only from the specification
//! and sharing no code with the engine.
//!
//! - [`call`]: the calls in the model, including the gates of phases and job.
//! - [`job`]: the parts of a job that they read and write: phases, todos, files, requirements.
//! - [`effect`]: the effects of an executed call on the job.
//! - [`rules`]: which call is executed, in which phase, and what the opening of the next one names.
//! - [`examples`]: answers whose outcome is written by hand.
//! - [`engine`], [`property`]: the engine compared with the model, with random answers.
//!
//! Not modelled are rules that need more than an answer and its job: at most 64 calls, room in the window, repeated
//! calls, lists of phases without an effect, and the evidence of todos. A job of the model has done enough work in its
//! phase that no closing is refused for lack of evidence.

mod call;
mod effect;
mod engine;
mod examples;
mod job;
mod property;
mod rules;

use call::Call;
use effect::{End, Said};
use job::{Job, Text};
