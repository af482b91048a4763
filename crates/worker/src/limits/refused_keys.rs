//! Keys that a provider has refused: of all jobs with one, the first has asked for all.

use plumbline_llm::{ApiKey, ModelClient};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// For how long a refusal speaks for other jobs. Then one asks again: a provider may take the key after all.
const HOLDS: Duration = Duration::from_secs(120);

/// What this process knows of them.
#[derive(Debug, Default)]
pub(crate) struct RefusedKeys(Mutex<HashMap<Place, Refused>>);

/// Base address, the variable of the key, and the model: some keys are refused for one model alone, and a gateway has
/// servers with rules of their own behind the paths of one host.
type Place = (String, String, String);

#[derive(Clone, Debug)]
struct Refused {
    key: Option<ApiKey>,
    at: Instant,
    reason: String,
}

impl RefusedKeys {
    /// The provider has refused the client's key, for this reason.
    pub(crate) fn refused(&self, client: &ModelClient, reason: String) {
        let refused = Refused { key: client.config().api_key.clone(), at: Instant::now(), reason };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(place(client), refused);
    }

    /// The provider has taken it.
    pub(crate) fn taken(&self, client: &ModelClient) {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !refused.is_empty() {
            refused.remove(&place(client));
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Why a request with the client's key would be refused.
    pub(crate) fn reason(&self, client: &ModelClient) -> Option<String> {
        let refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.is_empty() {
            return None;
        }
        let known = refused.get(&place(client))?;
        (known.key == client.config().api_key && known.at.elapsed() < HOLDS).then(|| known.reason.clone())
    }
}

fn place(client: &ModelClient) -> Place {
    let config = client.config();
    (config.base_url.clone(), config.api_key_env.clone(), config.model.clone())
}

#[cfg(test)]
mod tests {
    use super::RefusedKeys;
    use plumbline_llm::{ApiKey, ModelClient, ModelConfig};

    fn client(key: &str, model: &str) -> ModelClient {
        client_at("http://127.0.0.1:1/v1", key, model)
    }

    fn client_at(base_url: &str, key: &str, model: &str) -> ModelClient {
        let mut config = ModelConfig::new(base_url, model);
        config.api_key = ApiKey::new(key);
        ModelClient::new(config).unwrap()
    }

    #[test]
    fn a_refusal_speaks_for_the_same_key_and_model_until_it_is_taken() {
        let keys = RefusedKeys::default();
        let (old, new, other) = (client("old", "m"), client("new", "m"), client("old", "other"));
        assert_eq!(keys.reason(&old), None);
        keys.refused(&old, "401".into());
        assert_eq!(keys.reason(&client("old", "m")).as_deref(), Some("401"));
        assert_eq!((keys.reason(&new), keys.reason(&other)), (None, None));
        assert_eq!(keys.reason(&client_at("http://127.0.0.1:1/team-b/v1", "old", "m")), None);
        keys.taken(&old);
        assert_eq!(keys.reason(&old), None);
    }
}
