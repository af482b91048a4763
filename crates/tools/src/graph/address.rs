//! Converts a user's graph address to the address of its HTTP API.

use super::error::GraphConfigError;
use reqwest::Url;

/// The default port of a server's Query API.
const HTTP_PORT: u16 = 7474;
const HTTPS_PORT: u16 = 7473;

/// The address of the Query API: `…/db/{database}/query/v2`.
///
/// `http` and `https` addresses are used unchanged. People copy Bolt addresses from their server's console, so these
/// are accepted too: they map to the Query API of the same host, at its default port. Aura serves it at the HTTPS port.
pub(super) fn query_api(uri: &str, database: &str) -> Result<Url, GraphConfigError> {
    let refused = |reason: &str| GraphConfigError::Uri { uri: uri.to_string(), reason: reason.to_string() };
    let given = Url::parse(uri.trim()).map_err(|error| refused(&error.to_string()))?;
    let mut url = match given.scheme() {
        "http" | "https" => given,
        "bolt" | "neo4j" => at(&given, "http", Some(HTTP_PORT)).ok_or_else(|| refused("it names no host"))?,
        "bolt+s" | "neo4j+s" | "bolt+ssc" | "neo4j+ssc" => {
            let aura = given.host_str().is_some_and(|host| host.ends_with(".databases.neo4j.io"));
            let port = if aura { None } else { Some(HTTPS_PORT) };
            at(&given, "https", port).ok_or_else(|| refused("it names no host"))?
        }
        other => return Err(refused(&format!("`{other}` is no scheme of a graph"))),
    };
    let path = url.path().trim_end_matches('/').to_string();
    url.set_path(&path);
    url.path_segments_mut()
        .map_err(|()| refused("it names no host"))?
        .pop_if_empty()
        .extend(["db", database, "query", "v2"]);
    Ok(url)
}

/// Checks the address of a graph.
///
/// # Errors
/// What is wrong with it; the address, which may contain a password by mistake, is not repeated.
pub fn check_address(uri: &str) -> Result<(), String> {
    query_api(uri, "neo4j").map(drop).map_err(|error| match error {
        GraphConfigError::Uri { reason, .. } | GraphConfigError::Http(reason) => reason,
    })
}

fn at(given: &Url, scheme: &str, port: Option<u16>) -> Option<Url> {
    let host = given.host_str()?;
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    Url::parse(&format!("{scheme}://{host}{port}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_address_leads_to_the_query_api() {
        for (uri, expected) in [
            ("http://localhost:7474", "http://localhost:7474/db/neo4j/query/v2"),
            ("https://graph.example.org/proxy/", "https://graph.example.org/proxy/db/neo4j/query/v2"),
            ("bolt://localhost:7687", "http://localhost:7474/db/neo4j/query/v2"),
            ("neo4j://10.0.0.7", "http://10.0.0.7:7474/db/neo4j/query/v2"),
            ("neo4j+s://graph.example.org:7687", "https://graph.example.org:7473/db/neo4j/query/v2"),
            ("neo4j+s://0a1b.databases.neo4j.io", "https://0a1b.databases.neo4j.io/db/neo4j/query/v2"),
        ] {
            assert_eq!(query_api(uri, "neo4j").unwrap().as_str(), expected);
        }
        assert_eq!(query_api("http://h:1", "a/../b").unwrap().path(), "/db/a%2F..%2Fb/query/v2");
    }

    #[test]
    fn what_is_no_address_is_refused_with_a_way_out() {
        for uri in ["localhost:7474", "postgres://localhost", "", "bolt://"] {
            let error = query_api(uri, "neo4j").unwrap_err().to_string();
            assert!(error.contains("http://localhost:7474"), "{uri}: {error}");
        }
    }
}
