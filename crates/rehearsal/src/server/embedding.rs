//! Embeddings by rules: a text's vector is the sum of its words' vectors, which are derived from their hashes. So texts
//! with common words are similar, in any order. They have no meaning; they allow testing a search over embeddings
//! without a provider.

use serde::{Deserialize, Serialize};

/// Length of every embedding.
const DIMENSIONS: usize = 256;
/// Number of significant letters, so that `retain` and `retained` are equal.
const STEM: usize = 6;

/// One request body of `POST …/embeddings`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EmbeddingRequest {
    /// The model asked for; echoed, otherwise without effect.
    model: String,
    input: Input,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Input {
    One(String),
    Many(Vec<String>),
}

/// One answer body.
#[derive(Debug, Serialize)]
pub(crate) struct EmbeddingResponse {
    object: &'static str,
    data: Vec<Entry>,
    model: String,
    usage: Usage,
}

#[derive(Debug, Serialize)]
struct Entry {
    object: &'static str,
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Debug, Serialize)]
struct Usage {
    prompt_tokens: usize,
    total_tokens: usize,
}

/// The embeddings of a request's texts in their order, or why there are none.
pub(crate) fn answer(request: EmbeddingRequest) -> Result<EmbeddingResponse, String> {
    let texts = match request.input {
        Input::One(text) => vec![text],
        Input::Many(texts) => texts,
    };
    if texts.is_empty() || texts.iter().any(String::is_empty) {
        return Err("input is empty; send a text, or a list of texts".to_owned());
    }
    // As for conversations: bytes / 4, since there is no tokenizer here.
    let tokens = texts.iter().map(|text| text.len().div_ceil(4)).sum();
    let entry = |(index, text): (usize, &String)| Entry { object: "embedding", index, embedding: direction(text) };
    Ok(EmbeddingResponse {
        object: "list",
        data: texts.iter().enumerate().map(entry).collect(),
        model: request.model,
        usage: Usage { prompt_tokens: tokens, total_tokens: tokens },
    })
}

/// Of length one. A text without words gets a vector from its bytes.
fn direction(text: &str) -> Vec<f32> {
    let mut sum = vec![0.0; DIMENSIONS];
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    for word in &words {
        let end = word.char_indices().nth(STEM).map_or(word.len(), |(at, _)| at);
        // Short words are mostly grammar, and occur in every sentence.
        add(&mut sum, &word.as_bytes()[..end], if word.chars().count() < 4 { 0.25 } else { 1.0 });
    }
    if words.is_empty() {
        add(&mut sum, text.as_bytes(), 1.0);
    }
    let length = sum.iter().map(|n| n * n).sum::<f32>().sqrt();
    // Words can cancel each other out, although rarely; a vector is needed anyway.
    if length < f32::EPSILON {
        sum[0] = 1.0;
        return sum;
    }
    sum.iter().map(|n| n / length).collect()
}

/// Adds a feature at four positions with signs, both determined by its hash.
fn add(sum: &mut [f32], feature: &[u8], weight: f32) {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in feature {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    for place in 0..4 {
        let part = hash >> (place * 16);
        let sign = if part & 0x8000 == 0 { 1.0 } else { -1.0 };
        sum[part as usize % DIMENSIONS] += sign * weight;
    }
}

#[cfg(test)]
mod tests {
    use super::{DIMENSIONS, direction};

    fn nearness(a: &str, b: &str) -> f32 {
        direction(a).iter().zip(direction(b)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn texts_with_the_same_words_are_near_each_other() {
        let invoices = "Invoices must be retained for ten years.";
        assert!((nearness(invoices, invoices) - 1.0).abs() < 1e-5);
        let same = nearness(invoices, "For ten years, retain each invoice.");
        let other = nearness(invoices, "Visitors sign the register at the gate.");
        assert!(same > 0.6 && other < 0.3, "{same} {other}");
    }

    #[test]
    fn every_text_has_a_direction_of_length_one() {
        for text in ["a", "?!", "提取需求", "\u{0}", "word word word"] {
            let direction = direction(text);
            let length: f32 = direction.iter().map(|n| n * n).sum();
            assert!(direction.len() == DIMENSIONS && (length - 1.0).abs() < 1e-4, "{text}: {length}");
        }
    }
}
