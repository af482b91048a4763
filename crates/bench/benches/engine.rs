//! The engine's side of a turn at several lengths of the conversation: none of it may grow with the history except the
//! list of messages that a request refers to.

use divan::{Bencher, black_box};
use plumbline_bench::dialogue::{after_turns, take_turn};

fn main() {
    divan::main();
}

const HISTORY: [usize; 3] = [50, 500, 5000];

/// One turn: the answer applied, the results applied.
#[divan::bench(args = HISTORY, sample_count = 20, sample_size = 1)]
fn turn(bencher: Bencher<'_, '_>, history: usize) {
    let mut run = after_turns(history);
    let mut turn = history;
    bencher.bench_local(|| {
        turn += 1;
        take_turn(&mut run, turn);
    });
}

/// Assembling the next request: references, no copies.
#[divan::bench(args = HISTORY)]
fn request(bencher: Bencher<'_, '_>, history: usize) {
    let run = after_turns(history);
    bencher.bench(|| match black_box(&run).next() {
        plumbline_engine::Effect::CallModel(request) => request.messages.len(),
        _ => unreachable!("after a whole turn the model is next"),
    });
}

/// The checkpoint's state as JSON, as written by each step.
#[divan::bench(args = HISTORY)]
fn checkpoint(bencher: Bencher<'_, '_>, history: usize) {
    let run = after_turns(history);
    bencher.bench(|| serde_json::to_vec(black_box(&run).state()).map(|json| json.len()));
}
