//! Against tiktoken's own encoder, which the tables come from.

use super::{CL100K, Encoder, O200K, count, encoder_for};
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

fn agrees(text: &str) {
    let pairs: [(Encoder, &CoreBPE, &str); 2] =
        [(O200K, o200k_base_singleton(), "o200k"), (CL100K, cl100k_base_singleton(), "cl100k")];
    for (ours, theirs, name) in pairs {
        let expected = theirs.count_ordinary(text);
        assert_eq!(ours.count(text) as usize, expected, "{name}: {:?}", text.chars().take(200).collect::<String>());
    }
}

#[test]
fn counts_ordinary_text() {
    assert_eq!(count(""), 0);
    assert_eq!(count("Records shall be kept for ten years."), 8);
    assert!(count("<|endoftext|>") > 1, "special tokens in a document are plain text");
}

#[test]
fn a_model_is_found_behind_its_vendor_and_an_unknown_one_falls_back() {
    // The sample text has different counts in the two encodings.
    let text = "Aufbewahrungspflichten für Handelsbücher";
    let old = encoder_for("openai/gpt-4").count(text);
    assert_eq!(old, encoder_for("gpt-4").count(text));
    assert_ne!(old, count(text));
    assert_eq!(encoder_for("someone/never-heard-of-7b").count(text), count(text));
}

#[test]
fn prose_code_and_scripts_are_counted_as_tiktoken_counts_them() {
    for text in [
        "It's what we'LL do: they'd've said \"don't\" — won't you?",
        "§ 147 AO: Aufbewahrung von Büchern, 10 Jahre; Größe 1.234.567,89 €\n\n\n- a\r\n- b\r\n",
        "fn main() {\n    let x = vec![1, 22, 333, 4444, 55555];\n\t\tprintln!(\"{x:?}\");\n}\n",
        "日本語の文章と中文文本，以及한국어 텍스트도 있습니다。",
        "السجلات يجب أن تحفظ  नमस्ते दुनिया สวัสดีชาวโลก",
        "🙂👩‍👩‍👧‍👦 e\u{301}a\u{308} \u{a0}\u{2003}\u{3000}x \u{85}y\u{2028}z",
        "   leading",
        "trailing   ",
        "a   b",
        "a \n b",
        "\n\n  x",
        " \t\r\n\t ",
        "   ",
        "\r\n",
        "a\u{0}b",
        "/usr/local//bin/ https://example.org/a/b?c=d&e=%20#f ...///\n//\n!!!\r\n",
        "ABCdefGHIjkl HTTPServer iPhone XMLHttpRequest ǅǆ ʰʱ",
    ] {
        agrees(text);
    }
}

#[test]
fn long_pieces_take_the_other_way_and_come_to_the_same() {
    let alphabet: String = ('a'..='z').cycle().take(1500).collect();
    for text in ["a".repeat(99), "a".repeat(100), "ab".repeat(700), alphabet, "ß".repeat(120), "=".repeat(333)] {
        agrees(&text);
    }
}

#[test]
fn any_text_is_counted_as_tiktoken_counts_it() {
    let kinds = [
        "a", "Z", "é", "Ж", "中", "ا", "5", "٣", " ", "  ", "\n", "\r\n", "\t", "'", "'s", "'LL", "/", ".", "-", "_",
        "\u{301}", "ǅ", "🙂", "\u{a0}", "\u{200d}", "the", " and", "ing",
    ];
    // The numbers of a linear congruential generator: any text, and the same ones in each run.
    let mut random = 7_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for _ in 0..3000 {
        let length = next(40);
        let text: String = (0..length).map(|_| kinds[next(kinds.len())]).collect();
        agrees(&text);
    }
}
