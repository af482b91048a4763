use super::*;
use plumbline_store::Slots;
use uuid::Uuid;

const LEASE: Duration = Duration::from_secs(45);

fn queue(now: Instant) -> WaitQueue {
    WaitQueue::new(now, LEASE)
}

fn join(queue: &mut WaitQueue, prompt_tokens: u32) -> oneshot::Receiver<Permit> {
    let lease = Lease { job_id: Uuid::now_v7(), epoch: 1 };
    let request = NextRequest { lease, prompt_tokens, configured: EndpointLimits::default(), is_current: true };
    let (reply, granted) = oneshot::channel();
    queue.join(Waiter::new(request, mpsc::unbounded_channel().0, reply));
    granted
}

/// A thousand tokens per second, with a burst of one second.
fn drawn(tat_s: f64) -> Drawn {
    Drawn {
        limits: EndpointLimits { tokens_per_minute: Some(60_000), ..EndpointLimits::default() },
        tat_s: Amount { requests: 0.0, tokens: tat_s },
        period_s: Amount { requests: 0.0, tokens: 0.001 },
        burst_s: 1.0,
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

#[test]
fn one_draw_is_for_all_and_they_go_in_their_order() {
    let now = Instant::now();
    let mut queue = queue(now);
    let mut waiting = [500, 500, 500].map(|tokens| join(&mut queue, tokens));
    assert_eq!(queue.due(now), Due::Draw);
    let draw = queue.draw(now);
    assert_eq!(draw.cost.tokens, 3_000.0, "of answers, 500 each are expected");
    queue.drew(&draw, Some(drawn(0.0)), now);
    let mut gone = |after: f64| {
        queue.admit(now + seconds(after));
        waiting.iter_mut().filter_map(|granted| granted.try_recv().ok()).count()
    };
    assert_eq!([0.0, 0.9, 1.1, 2.1].map(&mut gone), [1, 0, 1, 1]);
    assert_eq!(queue.len(), 0);
}

#[test]
fn after_a_change_everything_is_returned_and_drawn_again() {
    let now = Instant::now();
    let mut queue = queue(now);
    let mut granted = join(&mut queue, 100);
    let draw = queue.draw(now);
    queue.drew(&draw, Some(drawn(6.0)), now);
    queue.admit(now + seconds(4.0));
    assert!(granted.try_recv().is_err());
    assert_eq!(queue.due(now), Due::At(now + seconds(5.6)), "a block of five seconds, and its own six tenths");
    queue.limits_changed();
    let later = now + seconds(6.0);
    queue.admit(later);
    assert!(granted.try_recv().is_err(), "what was drawn no longer holds");
    assert_eq!(queue.due(later), Due::Draw);
    let draw = queue.draw(later);
    assert_eq!((draw.cost.tokens, draw.corrected.tokens), (600.0, -600.0));
    queue.drew(&draw, Some(drawn(0.0)), later);
    queue.admit(later);
    assert!(granted.try_recv().is_ok());
}

#[test]
fn what_was_drawn_ahead_serves_without_a_draw_and_goes_back_unused() {
    let now = Instant::now();
    let mut queue = queue(now);
    // It sends ten requests per second, each of a thousand tokens.
    let fast = Drawn { period_s: Amount { requests: 0.0, tokens: 0.000_01 }, ..drawn(0.0) };
    for n in 0..200 {
        let at = now + seconds(0.1 * f64::from(n));
        let _granted = join(&mut queue, 500);
        if queue.due(at) == Due::Draw {
            let draw = queue.draw(at);
            queue.drew(&draw, Some(fast), at);
        }
        queue.admit(at);
        queue.used(1_000.0, 1_000.0, 500.0);
    }
    let at = now + seconds(20.0);
    let _short = join(&mut queue, 60_000);
    let draw = queue.draw(at);
    assert!((38.0..=42.0).contains(&draw.cost.requests), "for four seconds and the one: {draw:?}");
    queue.drew(&draw, Some(fast), at);
    queue.admit(at);
    let mut next = join(&mut queue, 500);
    queue.admit(at);
    assert!(next.try_recv().is_ok(), "no draw of its own");
    let Due::At(unused) = queue.due(at) else { panic!("something is left: {:?}", queue.due(at)) };
    let back = queue.draw(unused);
    assert_eq!(back.corrected.tokens, 61_500.0 - draw.cost.tokens, "of what is limited, all but the two");
    assert_eq!(back.cost, Amount::default());
}

#[test]
fn a_draw_that_failed_loses_no_correction() {
    let now = Instant::now();
    let mut queue = queue(now);
    queue.used(1_000.0, 1_400.0, 500.0);
    let failed = queue.draw(now);
    queue.not_drawn(&failed);
    assert_eq!(queue.draw(now).corrected, Amount { requests: 0.0, tokens: 400.0 });
}

#[test]
fn a_slot_that_others_wait_for_is_not_used_again() {
    let now = Instant::now();
    let mut queue = queue(now);
    let limits = EndpointLimits { parallel: Some(2), ..EndpointLimits::default() };
    let mut waiting = [1, 1, 1].map(|tokens| join(&mut queue, tokens));
    let draw = queue.draw(now);
    queue.drew(&draw, Some(Drawn { limits, ..Drawn::default() }), now);
    assert_eq!(queue.due(now), Due::Hold);
    let hold = queue.hold(now);
    assert_eq!(hold, Hold { wanted: 3, ended: 0 });
    queue.held(hold, Some(Slots { granted: 1, contested: true }));
    queue.admit(now);
    queue.used(1.0, 1.0, 1.0);
    queue.admit(now);
    assert_eq!(waiting.iter_mut().filter_map(|granted| granted.try_recv().ok()).count(), 1);
    let hold = queue.hold(now);
    assert_eq!(hold, Hold { wanted: 2, ended: 1 });
    queue.held(hold, Some(Slots { granted: 1, contested: false }));
    queue.admit(now);
    queue.used(1.0, 1.0, 1.0);
    queue.admit(now);
    assert_eq!(queue.len(), 0, "no other worker wants it: it serves twice");
}

#[test]
fn an_abandoned_request_returns_what_it_drew() {
    let now = Instant::now();
    let mut queue = queue(now);
    let waiting = join(&mut queue, 500);
    let draw = queue.draw(now);
    queue.drew(&draw, Some(drawn(9.0)), now);
    drop(waiting);
    queue.drop_gone();
    assert_eq!((queue.len(), queue.draw(now).corrected.tokens), (0, -draw.cost.tokens));
}

#[test]
fn the_sending_rate_is_that_of_the_last_seconds() {
    let begun = Instant::now();
    let mut sending = SendingRate { rate: 0.0, at: begun };
    for n in 1..=200 {
        sending.sent(begun + Duration::from_millis(100 * n));
    }
    let now = begun + Duration::from_secs(20);
    assert!((sending.within(Duration::from_secs(4), now) - 40.0).abs() < 2.0);
    assert!(sending.within(Duration::from_secs(4), now + Duration::from_secs(30)) < 0.2);
}
