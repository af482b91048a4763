use super::*;
use uuid::Uuid;

fn join(line: &mut Line, prompt_tokens: u32) -> oneshot::Receiver<Permit> {
    let lease = Lease { job_id: Uuid::now_v7(), epoch: 1 };
    let wish = Wish { lease, prompt_tokens, configured: EndpointLimits::default(), is_current: true };
    let (reply, granted) = oneshot::channel();
    line.join(Waiter::new(wish, mpsc::unbounded_channel().0, reply));
    granted
}

/// 900 tokens a second.
fn drawn(position: f64, released: f64) -> Drawn {
    Drawn {
        limits: EndpointLimits { tokens_per_minute: Some(60_000), ..EndpointLimits::default() },
        position: Amount { requests: position / 1000.0, tokens: position },
        released: Amount { requests: position / 1000.0, tokens: released },
        given: Amount::default(),
        refilled_in: Duration::ZERO,
        slots: None,
        contested: false,
    }
}

#[test]
fn one_draw_is_for_all_and_they_go_in_their_order() {
    let now = Instant::now();
    let mut line = Line::new(now);
    let mut waiting = [400, 400, 400].map(|tokens| join(&mut line, tokens));
    assert_eq!(line.due(now), Due::Draw);
    let draw = line.draw(now);
    assert_eq!(draw.needed, Amount { requests: 3.0, tokens: 2_700.0 });
    line.drew(&draw, Some(drawn(2_700.0, 900.0)), now);
    let mut gone = |line: &mut Line, after: u64| {
        line.admit(now + Duration::from_millis(after));
        waiting.iter_mut().filter_map(|granted| granted.try_recv().ok()).count()
    };
    assert_eq!([0, 900, 1_100, 2_100].map(|after| gone(&mut line, after)), [1, 0, 1, 1]);
    assert_eq!(line.len(), 0);
}

#[test]
fn a_block_and_a_change_are_waited_for_and_looked_at() {
    let now = Instant::now();
    let mut line = Line::new(now);
    let mut granted = join(&mut line, 100);
    let draw = line.draw(now);
    line.drew(&draw, Some(Drawn { refilled_in: Duration::from_secs(5), ..drawn(600.0, 900.0) }), now);
    line.admit(now + Duration::from_secs(4));
    assert!(granted.try_recv().is_err());
    assert_eq!(line.due(now), Due::At(now + Duration::from_secs(5)));
    line.forget_seen();
    let later = now + Duration::from_secs(6);
    line.admit(later);
    assert!(granted.try_recv().is_err(), "what was seen holds no longer");
    assert_eq!(line.due(later), Due::Draw);
    let draw = line.draw(later);
    assert_eq!(draw.needed, Amount::default(), "it stands in line already");
    line.drew(&draw, Some(drawn(600.0, 600.0)), later);
    line.admit(later);
    assert!(granted.try_recv().is_ok());
}

#[test]
fn what_was_drawn_ahead_serves_without_a_draw_and_goes_back_unused() {
    let now = Instant::now();
    let mut line = Line::new(now);
    let first = join(&mut line, 500);
    let draw = line.draw(now);
    let given = Amount { requests: 8.0, tokens: 5_000.0 };
    line.drew(&draw, Some(Drawn { given, ..drawn(1_000.0, 8_000.0) }), now);
    line.admit(now);
    let mut second = join(&mut line, 500);
    line.admit(now + Duration::from_secs(3));
    assert!(second.try_recv().is_ok());
    drop(first);
    let draw = line.draw(now + Duration::from_secs(30));
    assert_eq!(draw.corrected, Amount { requests: -7.0, tokens: -4_000.0 });
}

#[test]
fn a_slot_that_others_wait_for_is_not_used_again() {
    let now = Instant::now();
    let mut line = Line::new(now);
    let limits = EndpointLimits { parallel: Some(2), ..EndpointLimits::default() };
    let seen = |slots, contested| Drawn { limits, slots: Some(slots), contested, ..drawn(0.0, 0.0) };
    let mut waiting = [1, 1, 1].map(|tokens| join(&mut line, tokens));
    let draw = line.draw(now);
    assert_eq!((draw.slots_in_use, draw.slots_asked), (0, 3));
    line.drew(&draw, Some(seen(1, true)), now);
    line.admit(now);
    line.used(1.0, 1.0, 1.0);
    line.admit(now);
    assert_eq!(waiting.iter_mut().filter_map(|granted| granted.try_recv().ok()).count(), 1);
    let draw = line.draw(now);
    assert_eq!((draw.slots_in_use, draw.slots_asked), (0, 2));
    line.drew(&draw, Some(seen(1, false)), now);
    line.admit(now);
    line.used(1.0, 1.0, 1.0);
    line.admit(now);
    assert_eq!(line.len(), 0, "nobody else wants it: it serves twice");
}

#[test]
fn who_gives_up_gives_back_what_was_drawn() {
    let now = Instant::now();
    let mut line = Line::new(now);
    let waiting = join(&mut line, 500);
    let draw = line.draw(now);
    line.drew(&draw, Some(drawn(1_000.0, 0.0)), now);
    drop(waiting);
    line.drop_gone();
    assert_eq!((line.len(), line.draw(now).corrected), (0, Amount { requests: -1.0, tokens: -1_000.0 }));
}
