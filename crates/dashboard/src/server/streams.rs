//! Limits of event streams, in total and per client, so that no client has them all.

use crate::pages::error::PageError;
use axum::http::StatusCode;
use parking_lot::Mutex;
use std::{collections::HashMap, net::IpAddr, sync::Arc};

/// Open at once.
const TOTAL: usize = 200;
/// Per address, which may be a proxy for several people.
const OF_CLIENT: usize = 50;

/// The open streams of each address.
#[derive(Default)]
pub(crate) struct Streams(Mutex<HashMap<IpAddr, usize>>);

impl Streams {
    /// Acquires a slot, which is released on drop.
    ///
    /// # Errors
    /// If there is none, with a sentence for the client.
    pub(crate) fn admit(self: &Arc<Self>, client: IpAddr) -> Result<Slot, PageError> {
        let mut open = self.0.lock();
        let of_client = open.get(&client).copied().unwrap_or_default();
        let sentence = if of_client >= OF_CLIENT {
            format!("{OF_CLIENT} event streams are open from your address; close some")
        } else if open.values().sum::<usize>() >= TOTAL {
            "too many event streams are open on this worker; close some, or try again later".to_owned()
        } else {
            open.insert(client, of_client + 1);
            return Ok(Slot { streams: Arc::clone(self), client });
        };
        Err(PageError { status: StatusCode::SERVICE_UNAVAILABLE, sentence })
    }
}

/// One open stream.
pub(crate) struct Slot {
    streams: Arc<Streams>,
    client: IpAddr,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock();
        if let Some(count) = open.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_share_and_all_together_theirs() {
        let streams = Arc::new(Streams::default());
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        let mut slots: Vec<Slot> = (0..OF_CLIENT).map_while(|_| streams.admit(address(1)).ok()).collect();
        assert_eq!(slots.len(), OF_CLIENT);
        assert!(streams.admit(address(1)).is_err_and(|failure| failure.sentence.contains("your address")));
        slots.extend((OF_CLIENT..TOTAL).map_while(|at| streams.admit(address(2 + (at / OF_CLIENT) as u8)).ok()));
        assert_eq!(slots.len(), TOTAL);
        assert!(streams.admit(address(9)).is_err_and(|failure| failure.sentence.contains("on this worker")));
        slots.pop();
        assert!(streams.admit(address(9)).is_ok());
        drop(slots);
        assert!(streams.0.lock().is_empty());
    }
}
