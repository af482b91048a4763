//! A cache of clients by their configuration.

use std::{
    collections::HashMap,
    fmt::Debug,
    sync::{Mutex, PoisonError},
};

/// Clients that are cheap to clone, by the text of their configuration.
pub(super) struct ClientCache<T> {
    clients: Mutex<HashMap<String, T>>,
}

impl<T> Default for ClientCache<T> {
    fn default() -> Self {
        Self { clients: Mutex::default() }
    }
}

impl<T: Clone> ClientCache<T> {
    /// The client of a configuration, created under the lock on first use: of many jobs that start at once, one
    /// connects.
    pub(super) fn get(&self, config: &impl Debug, make: impl FnOnce() -> T) -> T {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.entry(format!("{config:?}")).or_insert_with(make).clone()
    }

    /// The same if creation may fail; it is retried the next time.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn try_get<E>(&self, config: &impl Debug, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let key = format!("{config:?}");
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = make()?;
        clients.insert(key, client.clone());
        Ok(client)
    }
}
