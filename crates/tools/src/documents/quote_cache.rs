//! Caches prepared source texts between calls: a thousand citations of one document prepare it once.

use parking_lot::Mutex;
use plumbline_documents::quotes::SourceText;
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Capacity in bytes of source text, over all jobs; prepared texts use two and a half times as much memory. The texts of
/// five hundred jobs with twelve pages each fit.
const CAPACITY_BYTES: u64 = 16 * 1024 * 1024;

/// Identifies a text: the path alone is not enough, since a document may be extracted again. Tools cannot write
/// extracted texts, so a changed one was extracted by another parser version and has another size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextKey {
    pub(crate) job_id: Uuid,
    pub(crate) path: String,
    /// The file's size in bytes.
    pub(crate) size: u64,
}

/// LRU: evicts the least recently used texts when the total exceeds [`CAPACITY_BYTES`].
#[derive(Default)]
pub(crate) struct QuoteCache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    texts: HashMap<TextKey, Entry>,
    /// Grows with each use.
    uses: u64,
}

struct Entry {
    text: Arc<SourceText>,
    /// The use that was its last.
    last: u64,
}

impl Kept {
    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    fn evict(&mut self) {
        let mut bytes: u64 = self.texts.keys().map(|key| key.size).sum();
        while bytes > CAPACITY_BYTES {
            let oldest = self.texts.iter().min_by_key(|(_, entry)| entry.last).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            bytes -= oldest.size;
            self.texts.remove(&oldest);
        }
    }
}

impl QuoteCache {
    /// The prepared text, if it is cached.
    pub(crate) fn get(&self, key: &TextKey) -> Option<Arc<SourceText>> {
        let mut kept = self.0.lock();
        let last = kept.next_use();
        let entry = kept.texts.get_mut(key)?;
        entry.last = last;
        Some(Arc::clone(&entry.text))
    }

    /// Drops the texts of a job that has left this worker.
    pub(crate) fn forget(&self, job_id: Uuid) {
        self.0.lock().texts.retain(|known, _| known.job_id != job_id);
    }

    /// Caches a prepared text and evicts others for it. A text larger than the capacity is not cached.
    pub(crate) fn put(&self, key: TextKey, text: Arc<SourceText>) {
        if key.size > CAPACITY_BYTES {
            return;
        }
        let mut kept = self.0.lock();
        let last = kept.next_use();
        kept.texts.retain(|known, _| known.job_id != key.job_id || known.path != key.path);
        kept.texts.insert(key, Entry { text, last });
        kept.evict();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str, size: u64) -> TextKey {
        TextKey { job_id: Uuid::nil(), path: path.into(), size }
    }

    fn kept(cache: &QuoteCache, key: &TextKey) -> bool {
        cache.get(key).is_some()
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let cache = QuoteCache::default();
        let third = CAPACITY_BYTES / 3;
        let text = Arc::new(SourceText::new("some text"));
        for path in ["a", "b", "c"] {
            cache.put(key(path, third), Arc::clone(&text));
        }
        assert!(kept(&cache, &key("a", third)), "all three fit");
        cache.put(key("d", third), Arc::clone(&text));
        assert!(!kept(&cache, &key("b", third)), "b was used longest ago");
        assert!(kept(&cache, &key("a", third)) && kept(&cache, &key("c", third)) && kept(&cache, &key("d", third)));
    }

    #[test]
    fn a_job_that_has_left_keeps_none() {
        let cache = QuoteCache::default();
        let other = TextKey { job_id: Uuid::from_u128(1), ..key("a", 10) };
        for key in [&key("a", 10), &key("b", 10), &other] {
            cache.put(key.clone(), Arc::new(SourceText::new("some text")));
        }
        cache.forget(Uuid::nil());
        assert!(!kept(&cache, &key("a", 10)) && !kept(&cache, &key("b", 10)) && kept(&cache, &other));
    }

    #[test]
    fn another_size_is_another_text() {
        let cache = QuoteCache::default();
        let text = Arc::new(SourceText::new("some text"));
        cache.put(key("a", 10), Arc::clone(&text));
        assert!(!kept(&cache, &key("a", 11)));
        cache.put(key("a", 11), Arc::clone(&text));
        assert!(!kept(&cache, &key("a", 10)), "the older state is let go");
        cache.put(key("huge", CAPACITY_BYTES + 1), text);
        assert!(kept(&cache, &key("a", 11)), "a text that never fits drives nothing out");
    }
}
