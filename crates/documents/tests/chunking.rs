//! Chunks: nothing is lost, limits hold, pages and headings are right.

use plumbline_documents::chunking::{Chunk, ChunkOptions, chunk, render_chunk};
use plumbline_documents::quotes;
use plumbline_documents::{Page, from_text_file};

const SAMPLE: &str = include_str!("../../cli/sample/record-keeping-policy.md");

fn page(number: u32, text: &str) -> Page {
    Page { number, text: text.to_owned() }
}

fn cut(pages: &[Page], max_tokens: u32) -> Vec<Chunk> {
    chunk("input/policy.pdf", pages, true, ChunkOptions { max_tokens, overlap: 0 })
}

/// Words without page marks.
fn words(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.starts_with("[page "));
    lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// The sample cut into pages at every so many bytes, wherever that is.
fn pages_of(text: &str, size: usize) -> Vec<Page> {
    let bytes = text.as_bytes().chunks(size).map(|part| String::from_utf8_lossy(part).into_owned());
    bytes.enumerate().map(|(index, text)| page(index as u32 + 1, &text)).collect()
}

/// Text without any structure: long words, no words, odd spaces and characters of several bytes.
fn rubble() -> String {
    let mut state = 7_u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize
    };
    let pieces = [
        "\n",
        "  ",
        "x",
        "überlang",
        "#",
        "| a ",
        "- ",
        "日本語",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ". ",
        "```\n",
        "🙂",
    ];
    (0..6000).map(|_| pieces[next() % pieces.len()]).collect()
}

#[test]
fn no_word_is_lost_and_no_limit_broken() {
    let rubble = rubble();
    for (name, text) in [("sample", SAMPLE), ("rubble", rubble.as_str()), ("one word", &"a".repeat(40_000))] {
        for (size, limit) in [(1500, 1200), (997, 300), (5000, 60)] {
            let pages = pages_of(text, size);
            let chunks = cut(&pages, limit);
            let source: Vec<String> = pages.iter().flat_map(|page| words(&page.text)).collect();
            let kept: Vec<String> = chunks.iter().flat_map(|chunk| words(&chunk.text)).collect();
            // A word longer than a chunk is cut; its letters are all there.
            assert_eq!(kept.concat(), source.concat(), "{name} {size} {limit}");
            for chunk in &chunks {
                assert_eq!(chunk.tokens, plumbline_tokens::count(&chunk.text));
                assert!(chunk.tokens <= limit, "{name}: {} tokens of {limit}", chunk.tokens);
            }
            if name == "sample" {
                // Only a limit shorter than a sentence cuts words, and only at a sign within them.
                let difference = kept.iter().zip(&source).find(|(kept, source)| kept != source);
                assert!(difference.is_none() || limit < 100, "{difference:?} at {limit}");
                let smallest = source.len() / 400 * 1200 / limit as usize;
                assert!(chunks.len() < smallest * 4, "{} chunks at {limit}", chunks.len());
            }
            assert_eq!(chunks, cut(&pages, limit), "the same text gives the same chunks");
        }
    }
}

#[test]
fn a_sentence_over_the_end_of_a_page_stays_whole() {
    let pages =
        [page(3, "# 2 Scope\n\nThe controller shall keep"), page(4, "records for ten years.\n\n## 2.1 More\n\nText.")];
    let chunks = cut(&pages, 1200);
    assert_eq!(chunks.len(), 1);
    let expected =
        "[page 3]\n\n# 2 Scope\n\nThe controller shall keep\n[page 4]\nrecords for ten years.\n\n## 2.1 More\n\nText.";
    assert_eq!(chunks[0].text, expected);
    assert_eq!((chunks[0].first_page, chunks[0].last_page), (Some(3), Some(4)));
    let found = quotes::SourceText::new(&chunks[0].text).find("shall keep records for ten years", None);
    assert!(matches!(&found, quotes::Match::Found(found) if found.page == Some(3)), "{found:?}");
    assert_eq!(from_text_file(&chunks[0].text).pages.len(), 2);
}

#[test]
fn chunks_know_their_pages_and_headings() {
    let file: Vec<Page> = SAMPLE
        .split("\n## ")
        .enumerate()
        .map(|(i, part)| {
            let text = if i == 0 { part.to_owned() } else { format!("## {part}") };
            page(i as u32 + 1, &text)
        })
        .collect();
    let chunks = cut(&file, 400);
    for chunk in &chunks {
        let (first, last) = (chunk.first_page.expect("paged"), chunk.last_page.expect("paged"));
        let marks = from_text_file(&chunk.text).pages;
        assert_eq!((marks[0].number, marks[marks.len() - 1].number), (first, last));
        for mark in marks {
            let source = words(&file[mark.number as usize - 1].text).join(" ");
            assert!(source.contains(&words(&mark.text).join(" ")), "page {}: {}", mark.number, mark.text);
        }
        assert_eq!(chunk.headings.first().map(String::as_str), Some("Record-Keeping Policy"));
    }
    let hold = chunks.iter().find(|chunk| chunk.text.contains("orders a legal hold")).expect("no word is lost");
    assert_eq!(hold.headings[1], "5 Retention");
}

#[test]
fn overlap_repeats_the_end_of_the_chunk_before() {
    let pages = [page(1, SAMPLE)];
    let plain = cut(&pages, 300);
    let overlapping = chunk("input/policy.pdf", &pages, true, ChunkOptions { max_tokens: 300, overlap: 100 });
    let count = |chunks: &[Chunk]| chunks.iter().map(|chunk| words(&chunk.text).len()).sum::<usize>();
    assert!(count(&overlapping) > count(&plain) * 21 / 20, "{} after {}", count(&overlapping), count(&plain));
    assert!(overlapping.iter().all(|chunk| chunk.tokens <= 300));
    assert!(overlapping.iter().any(|chunk| chunk.repeats) && !overlapping[0].repeats);
    assert!(plain.iter().all(|chunk| !chunk.repeats));
    // More overlap than half a chunk would never end.
    assert!(!chunk("x", &pages, true, ChunkOptions { max_tokens: 60, overlap: 5000 }).is_empty());
}

#[test]
fn the_first_line_says_where_a_chunk_is_from() {
    let chunks = cut(&[page(3, "# 2 Scope\n\n## 2.1 Records\n\nText."), page(4, "More text.")], 1200);
    let file = render_chunk("input/policy.pdf", &chunks[0]);
    assert!(
        file.starts_with("<!-- source: input/policy.pdf | pages: 3-4 | section: 2.1 Records -->\n\n[page 3]\n"),
        "{file}"
    );
    let chunks = chunk("input/a--b.txt", &[page(1, "Text.")], false, ChunkOptions::default());
    assert_eq!(render_chunk("input/a--b.txt", &chunks[0]), "<!-- source: input/a- -b.txt -->\n\nText.\n");
    assert_eq!((chunks[0].first_page, chunks[0].last_page), (None, None));
}

#[test]
fn no_words_no_chunks() {
    assert_eq!(cut(&[], 1200), []);
    assert_eq!(cut(&[page(1, " \n"), page(2, "")], 1200), []);
}
