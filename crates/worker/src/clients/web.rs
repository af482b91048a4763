//! Clients of other services, one per distinct connection, shared by all jobs of the process.

use super::ClientCache;
use plumbline_config::{Connections, Embeddings, Secrets, WebSearch};
use plumbline_job_setup::{search_secret, secret};
use plumbline_llm::{Embedder, EmbedderSettings};
use plumbline_tools::http::HttpCaller;
use plumbline_tools::web::{Fetcher, FetcherOptions, Provider, SearchAccess, SearchService, SearchSettings, Web};
use std::sync::{Arc, OnceLock};
use tracing::warn;

/// The clients made so far.
pub(crate) struct Services {
    secrets: Arc<Secrets>,
    fetcher: OnceLock<Option<Fetcher>>,
    http: OnceLock<Option<HttpCaller>>,
    searches: ClientCache<Searching>,
    embedders: ClientCache<Option<Arc<Embedder>>>,
}

/// A search service, or why a configured one is unavailable.
type Searching = Result<Arc<SearchService>, Arc<str>>;

/// A job's services, owned; its methods lend them to the tools.
pub(crate) struct JobServices {
    fetcher: Option<Fetcher>,
    http: Option<HttpCaller>,
    search: Option<Searching>,
    embedder: Option<Arc<Embedder>>,
}

impl Services {
    /// No clients yet; each will get the secret of its host.
    pub(crate) fn new(secrets: Arc<Secrets>) -> Self {
        let (searches, embedders) = (ClientCache::default(), ClientCache::default());
        Self { secrets, fetcher: OnceLock::new(), http: OnceLock::new(), searches, embedders }
    }

    /// The services of a configuration. Pages are fetched only if web research is configured: by default, a job that
    /// reads confidential documents does not contact unknown hosts.
    pub(crate) fn of(&self, connections: &Connections) -> JobServices {
        let search = connections.web_search.as_ref().map(|search| self.search(search));
        let fetcher = search.as_ref().and_then(|_| self.fetcher.get_or_init(fetcher).clone());
        let embedder = connections.embeddings.as_ref().and_then(|embeddings| self.embedder(embeddings));
        let http = connections.http_tools.as_ref().and_then(|_| self.http.get_or_init(|| self.caller()).clone());
        JobServices { fetcher, http, search, embedder }
    }

    /// Secrets are looked up at each call: the operator may change them, and their hosts.
    fn caller(&self) -> Option<HttpCaller> {
        let secrets = self.secrets.clone();
        let made = HttpCaller::new(Arc::new(move |name, address| secret(&secrets, name, address)));
        made.inspect_err(|error| warn!(%error, "HTTP tools are disabled")).ok()
    }

    fn search(&self, search: &WebSearch) -> Searching {
        self.searches.get(search, || connect(search, &self.secrets))
    }

    /// An unusable one is reported once; searches then use words only.
    fn embedder(&self, embeddings: &Embeddings) -> Option<Arc<Embedder>> {
        let make = || {
            let Embeddings { base_url, model, api_key_env } = embeddings.clone();
            let api_key = api_key_env.as_deref().and_then(|name| secret(&self.secrets, name, &base_url));
            let settings = EmbedderSettings { base_url, model, api_key };
            let made = Embedder::new(settings);
            made.inspect_err(|error| warn!(%error, "embeddings are disabled")).ok().map(Arc::new)
        };
        self.embedders.get(embeddings, make)
    }
}

impl JobServices {
    /// The job's web access.
    pub(crate) fn web(&self) -> Web<'_> {
        let search = match &self.search {
            None => SearchAccess::Off,
            Some(Ok(service)) => SearchAccess::On(service),
            Some(Err(reason)) => SearchAccess::Unusable(reason),
        };
        Web { fetcher: self.fetcher.as_ref(), search, hosts: None }
    }

    /// The sender of calls of the job's own tools.
    pub(crate) fn http(&self) -> Option<&HttpCaller> {
        self.http.as_ref()
    }

    /// The embedder of texts, if configured.
    pub(crate) fn embedder(&self) -> Option<Arc<Embedder>> {
        self.embedder.clone()
    }
}

fn fetcher() -> Option<Fetcher> {
    Fetcher::new(FetcherOptions::default()).inspect_err(|error| warn!(%error, "fetching web pages is disabled")).ok()
}

fn connect(search: &WebSearch, secrets: &Secrets) -> Searching {
    let Some(provider) = Provider::from_word(&search.provider) else {
        return Err(
            format!("the web search provider `{}` is unknown: use searxng, tavily or brave", search.provider).into()
        );
    };
    let (base_url, api_key) = (search.base_url.clone(), search_secret(secrets, search));
    let settings = SearchSettings { provider, base_url, api_key };
    SearchService::new(settings).map(Arc::new).map_err(|error| error.to_string().into())
}
