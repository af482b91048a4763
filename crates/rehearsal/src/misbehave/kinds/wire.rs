//! Connections that end early, or are very slow.

use crate::misbehave::{Delivery, Kind, Reaction, Turn, bad, odd};
use std::time::Duration;

pub(super) const KINDS: &[Kind] = &[
    bad("hang_up_before_head", |turn| healthy(turn).delivered(Delivery::NoHead)),
    bad("hang_up_after_head", |turn| healthy(turn).delivered(Delivery::CutAfter(0))),
    bad("hang_up_in_body", |turn| {
        let reaction = healthy(turn);
        let half = reaction.body.len() / 2;
        reaction.delivered(Delivery::CutAfter(half))
    }),
    bad("hang_up_in_character", |turn| {
        let reaction = turn.changed(|answer| answer["choices"][0]["message"]["content"] = "Prüfung läuft".into());
        // After the first byte of a two-byte character.
        let cut = reaction.body.iter().position(|byte| *byte == 0xc3).map_or(1, |at| at + 1);
        reaction.delivered(Delivery::CutAfter(cut))
    }),
    bad("hang_up_in_call", |turn| {
        let reaction = healthy(turn);
        let arguments = b"\"arguments\":\"";
        let at = reaction.body.windows(arguments.len()).position(|window| window == arguments);
        let cut = at.map_or(reaction.body.len() / 2, |at| at + arguments.len() + 3);
        reaction.delivered(Delivery::CutAfter(cut))
    }),
    bad("hang_up_before_last_byte", |turn| {
        let reaction = healthy(turn);
        let last = reaction.body.len() - 1;
        reaction.delivered(Delivery::CutAfter(last))
    }),
    odd("slow_drip", |turn| {
        healthy(turn).delivered(Delivery::Dripping { pieces: 20, pause: Duration::from_millis(5) })
    }),
    bad("endless_drip", |turn| {
        healthy(turn).delivered(Delivery::Dripping { pieces: 200, pause: Duration::from_millis(100) })
    }),
    bad("stall", |turn| healthy(turn).delivered(Delivery::Never)),
];

fn healthy(turn: &Turn<'_>) -> Reaction {
    Reaction::answer(&turn.healthy)
}
