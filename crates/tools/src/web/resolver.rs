//! Resolves names, without forbidden addresses. The client connects to exactly the resolved address, so a name that
//! changes between two lookups (DNS rebinding) has no effect: each answer is checked and used at once.

use super::guard::Guard;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::SocketAddr;
use std::sync::Arc;

/// Looks up the name's addresses; with the system's resolver, or a test's.
pub(crate) type Lookup = Arc<dyn Fn(String) -> Looking + Send + Sync>;
/// A pending lookup.
pub(crate) type Looking = std::pin::Pin<Box<dyn Future<Output = std::io::Result<Vec<SocketAddr>>> + Send>>;

/// All of a name's addresses were forbidden.
#[derive(Debug, thiserror::Error)]
#[error("it is not on the public internet")]
pub(crate) struct NotPublic;

/// The resolver with its guard.
#[derive(Clone)]
pub(crate) struct Guarded {
    pub(crate) guard: Guard,
    pub(crate) lookup: Lookup,
}

/// The system's resolver.
pub(crate) fn system() -> Lookup {
    Arc::new(|host| Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) }))
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { guard, lookup } = self.clone();
        Box::pin(async move {
            let found = lookup(name.as_str().to_owned()).await?;
            let allowed = allowed(&guard, &found);
            match allowed.is_empty() && !found.is_empty() {
                true => Err(NotPublic.into()),
                false => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

/// The port is unknown here: an exception applies only with its own port, which is set together with the address.
fn allowed(guard: &Guard, found: &[SocketAddr]) -> Vec<SocketAddr> {
    let mut allowed = Vec::new();
    for address in found {
        if guard.allows(*address) {
            allowed.push(*address);
        } else {
            allowed.extend(guard.also.iter().filter(|known| known.ip() == address.ip()));
        }
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(list: &[&str]) -> Vec<SocketAddr> {
        list.iter().map(|text| text.parse().expect("an address")).collect()
    }

    #[test]
    fn forbidden_addresses_are_taken_out() {
        let found = addresses(&["127.0.0.1:0", "93.184.216.34:0", "[::1]:0", "[fe80::1]:0", "10.0.0.1:0"]);
        assert_eq!(allowed(&Guard::default(), &found), addresses(&["93.184.216.34:0"]));
        let guard = Guard { also: addresses(&["127.0.0.1:8000"]) };
        assert_eq!(allowed(&guard, &found[..1]), addresses(&["127.0.0.1:8000"]));
    }

    #[tokio::test]
    async fn a_name_that_changes_its_mind_is_refused_when_it_does() {
        let answers = Arc::new(std::sync::Mutex::new(addresses(&["10.0.0.7:0", "93.184.216.34:0"])));
        let lookup: Lookup = Arc::new(move |_| {
            let next = answers.lock().expect("no panic before").pop().into_iter().collect();
            Box::pin(async move { Ok(next) })
        });
        let resolver = Guarded { guard: Guard::default(), lookup };
        let ask = || resolver.resolve("rebind.example".parse().expect("a name"));
        assert_eq!(ask().await.expect("public").collect::<Vec<_>>(), addresses(&["93.184.216.34:0"]));
        assert!(ask().await.err().expect("private").is::<NotPublic>());
    }
}
