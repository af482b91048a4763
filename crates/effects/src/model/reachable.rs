//! Whether a model endpoint answers at all, for people who set things up.

use std::time::Duration;

/// Asks the endpoint for anything. Any HTTP answer counts: a refusal is an answer too.
///
/// # Errors
/// A few words on why there was none.
pub async fn reachable(base_url: &str, timeout: Duration) -> Result<(), String> {
    crate::tls::install();
    let url = format!("{}/models", base_url.trim_end_matches('/'));
    let client = reqwest::Client::builder().timeout(timeout).build().map_err(|error| error.to_string())?;
    match client.get(url).send().await {
        Ok(_) => Ok(()),
        Err(error) if error.is_timeout() => Err(format!("no answer within {} s", timeout.as_secs())),
        Err(error) if error.is_connect() => Err("the connection was refused or could not be made".into()),
        Err(error) => Err(error.without_url().to_string()),
    }
}
