//! A cache of clients by their configuration.

use parking_lot::Mutex;
use std::{collections::HashMap, fmt::Debug};

/// Maximum clients that are kept: rows may choose a temperature, and so a client. The jobs that use one keep it.
const KEPT: usize = 64;

/// Clients that are cheap to clone, by the text of their configuration.
pub(super) struct ClientCache<T> {
    clients: Mutex<Clients<T>>,
}

struct Clients<T> {
    by_config: HashMap<String, Used<T>>,
    /// How often a client was asked for.
    asked: u64,
}

struct Used<T> {
    client: T,
    last: u64,
}

impl<T> Default for ClientCache<T> {
    fn default() -> Self {
        Self { clients: Mutex::new(Clients { by_config: HashMap::new(), asked: 0 }) }
    }
}

impl<T: Clone> ClientCache<T> {
    /// The client of a configuration, created under the lock on first use: of many jobs that start at once, one
    /// connects.
    pub(super) fn get(&self, config: &impl Debug, make: impl FnOnce() -> T) -> T {
        let Ok(client) = self.try_get(config, || Ok::<_, std::convert::Infallible>(make()));
        client
    }

    /// The same if creation may fail; it is retried the next time.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn try_get<E>(&self, config: &impl Debug, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let key = format!("{config:?}");
        let mut clients = self.clients.lock();
        clients.asked += 1;
        let last = clients.asked;
        if let Some(used) = clients.by_config.get_mut(&key) {
            used.last = last;
            return Ok(used.client.clone());
        }
        let client = make()?;
        clients.make_room();
        clients.by_config.insert(key, Used { client: client.clone(), last });
        Ok(client)
    }
}

impl<T> Clients<T> {
    /// Drops the client that was not asked for the longest time, if there are as many as are kept.
    fn make_room(&mut self) {
        let by_use = |(_, used): &(&String, &Used<T>)| used.last;
        if self.by_config.len() >= KEPT
            && let Some(oldest) = self.by_config.iter().min_by_key(by_use).map(|(key, _)| key.clone())
        {
            self.by_config.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientCache, KEPT};

    #[test]
    fn a_bounded_number_of_clients_is_kept_those_used_last() {
        let clients = ClientCache::default();
        for config in 0..KEPT * 3 {
            assert_eq!(clients.get(&config, || config), config);
            assert_eq!(clients.get(&0, || unreachable!("it is in use")), 0);
        }
        assert_eq!(clients.clients.lock().by_config.len(), KEPT);
        assert_eq!(clients.try_get(&1, || Err(())), Err(()), "it was dropped");
        assert_eq!(clients.try_get(&(KEPT * 3 - 1), || Err(())), Ok(KEPT * 3 - 1));
    }
}
