//! The body of an answer, within a bound.

/// A whole body of at most `most` bytes; none if it is larger.
///
/// # Errors
/// It was not received completely.
pub async fn body_within(mut response: reqwest::Response, most: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > most {
            return Ok(None);
        }
        body.extend_from_slice(&piece);
    }
    Ok(Some(body))
}
