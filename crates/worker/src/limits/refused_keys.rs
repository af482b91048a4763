//! Keys that a provider has rejected: the first job's request counts for all jobs with the key.
//!
//! Each job is notified once. A job that a person has resumed early makes its own request.

use parking_lot::Mutex;
use plumbline_llm::{ApiKey, ModelClient};
use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};
use uuid::Uuid;

/// How long a rejection counts for other jobs. Then one job tries again: the provider may accept the key by then.
const HOLDS: Duration = Duration::from_secs(120);

/// The rejected keys known to this process.
#[derive(Debug, Default)]
pub(crate) struct RefusedKeys(Mutex<HashMap<Place, Refused>>);

/// Base address, the variable of the key, and the model: some keys are rejected only for one model, and a gateway has
/// servers with their own rules behind the paths of one host.
type Place = (String, String, String);

#[derive(Clone, Debug)]
struct Refused {
    key: Option<ApiKey>,
    at: Instant,
    reason: String,
    /// The jobs that know it: the one that made the request, and those that were notified.
    known_to: HashSet<Uuid>,
}

impl RefusedKeys {
    /// The provider has rejected the client's key for this job, for this reason.
    pub(crate) fn refused(&self, client: &ModelClient, job: Uuid, reason: String) {
        let key = client.config().api_key.clone();
        let refused = Refused { key, at: Instant::now(), reason, known_to: HashSet::from([job]) };
        let mut all = self.0.lock();
        // Rows may choose a model, and so a place.
        all.retain(|_, known| known.at.elapsed() < HOLDS);
        all.insert(place(client), refused);
    }

    /// The provider has accepted it.
    pub(crate) fn taken(&self, client: &ModelClient) {
        let mut refused = self.0.lock();
        if !refused.is_empty() {
            refused.remove(&place(client));
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Why a request with the client's key would be rejected, for a job that does not know it yet.
    pub(crate) fn reason(&self, client: &ModelClient, job: Uuid) -> Option<String> {
        let mut refused = self.0.lock();
        if refused.is_empty() {
            return None;
        }
        let known = refused.get_mut(&place(client))?;
        let holds = known.key == client.config().api_key && known.at.elapsed() < HOLDS;
        (holds && known.known_to.insert(job)).then(|| known.reason.clone())
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
    use uuid::Uuid;

    fn job(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

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
        assert_eq!(keys.reason(&old, job(2)), None);
        keys.refused(&old, job(1), "401".into());
        assert_eq!(keys.reason(&client("old", "m"), job(2)).as_deref(), Some("401"));
        assert_eq!((keys.reason(&new, job(3)), keys.reason(&other, job(3))), (None, None));
        assert_eq!(keys.reason(&client_at("http://127.0.0.1:1/team-b/v1", "old", "m"), job(3)), None);
        keys.taken(&old);
        assert_eq!(keys.reason(&old, job(3)), None);
    }

    #[test]
    fn a_job_is_notified_once_of_a_refusal() {
        let keys = RefusedKeys::default();
        let old = client("old", "m");
        keys.refused(&old, job(1), "401".into());
        assert_eq!(keys.reason(&old, job(1)), None, "it has asked itself");
        assert!(keys.reason(&old, job(2)).is_some());
        assert_eq!(keys.reason(&old, job(2)), None, "it was woken before its time");
        keys.refused(&old, job(2), "401".into());
        assert!(keys.reason(&old, job(1)).is_some());
    }
}
