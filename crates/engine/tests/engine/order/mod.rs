//! The fate of the calls of one answer: a reference model of the rules of order, written from the specification alone and
//! sharing no code with the engine.
//!
//! - [`call`]: the calls that the model knows, the gates of phases and job among them.
//! - [`job`]: a job as far as they read and write it: phases, todos, files, requirements.
//! - [`effect`]: what a call makes of the job when it is carried out.
//! - [`rules`]: which call is carried out, in which phase, and what the opening of the next one names.
//! - [`examples`]: answers whose end is written out by hand.
//! - [`engine`], [`property`]: the engine held against the model, with random answers.
//!
//! Left out are rules that need more than an answer and its job: at most 64 calls, room in the window, repeated calls, lists of
//! phases without an effect, and the evidence of todos. A job of the model has worked enough in its phase that no closing is refused
//! for want of it.

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
