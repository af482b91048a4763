//! The cost of the adapters' code: request bodies, token counts, chunks, quotes.

use divan::{Bencher, black_box, counter::BytesCount};
use plumbline_bench::{dialogue::after_turns, prose::prose};
use plumbline_documents::{
    Page,
    chunking::{ChunkOptions, chunk},
    quotes::SourceText,
};
use plumbline_llm::{ModelConfig, request_body};

fn main() {
    plumbline_tokens::load();
    divan::main();
}

/// The body of a request, from the messages to bytes.
#[divan::bench(args = [50, 500, 5000])]
fn body(bencher: Bencher<'_, '_>, history: usize) {
    let run = after_turns(history);
    let plumbline_engine::Effect::CallModel(request) = run.next() else { unreachable!("the model is next") };
    let config = ModelConfig::new("http://127.0.0.1:1/v1", "bench");
    let bytes = request_body(&config, &request).len();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| request_body(&config, black_box(&request)));
}

/// Counting the tokens of a text.
#[divan::bench(args = [2 << 10, 512 << 10])]
fn count_tokens(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = prose(1, bytes);
    bencher.counter(BytesCount::of_str(&text)).bench(|| plumbline_tokens::count(black_box(&text)));
}

/// Cutting a document of 200 pages into chunks.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn chunk_document(bencher: Bencher<'_, '_>) {
    let pages: Vec<Page> = (1..=200).map(|number| Page { number, text: prose(number.into(), 2500) }).collect();
    let bytes: usize = pages.iter().map(|page| page.text.len()).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .bench(|| chunk("input/policy.pdf", black_box(&pages), true, ChunkOptions::default()).len());
}

/// Looking a quote up in half a megabyte that is prepared already.
#[divan::bench]
fn find_quote(bencher: Bencher<'_, '_>) {
    let text = prose(1, 512 << 10);
    let start = text.len() / 2;
    let quote: String = text[start..].chars().skip_while(|c| !c.is_whitespace()).take(120).collect();
    let quote = quote.rsplit_once(' ').map_or(quote.as_str(), |(whole_words, _)| whole_words).trim().to_owned();
    let source = SourceText::new(&text);
    bencher.bench(|| source.find(black_box(&quote), None));
}

/// Looking up a quote that is not there, the nearest passage included.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn miss_quote(bencher: Bencher<'_, '_>) {
    let source = SourceText::new(&prose(1, 512 << 10));
    bencher.bench(|| source.find(black_box("records of the controller are never kept for ten years"), None));
}
