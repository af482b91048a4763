//! The queue and its workers: claims, limits, clocks, steering, large and costly work.

mod clocks;
mod control;
mod costly_rows;
mod costly_work;
mod crashes;
mod first_step;
mod given_up;
mod hanging;
mod heartbeat_starvation;
mod integer_widths;
mod sizes;
mod together;
mod two_workers;
mod unknown_types;
mod xmin_horizon;
