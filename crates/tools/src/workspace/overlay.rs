//! The workspace for the calls of one batch: the committed rows, overlaid with the products of earlier calls.

use crate::workspace::{PassagePlace, Workspace, WorkspaceError};
use parking_lot::Mutex;
use plumbline_documents::surroundings::Layout;
use plumbline_engine::{
    Citation, Product, RecordedRequirement, RequirementChange, Source, Verdict, apply_requirement_changes,
    candidate_id_of, nearest_by,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use uuid::Uuid;

/// Maximum paths compared for suggestions; among more, a typing error cannot be identified.
const MAX_COMPARED: usize = 5_000;

/// The batch's change of a file.
enum Layer {
    Whole(Vec<u8>),
    /// Bytes appended to the committed file, with its committed size.
    Appended {
        tail: Vec<u8>,
        committed: u64,
    },
    Deleted,
}

/// The overlay.
pub(crate) struct WorkspaceOverlay<'a> {
    rows: &'a dyn Workspace,
    files: BTreeMap<String, Layer>,
    sources: Vec<Source>,
    passages: Vec<PassagePlace>,
    citations: HashMap<String, Citation>,
    requirements: HashMap<Vec<u8>, String>,
    /// Those changed by the batch, by id, and whether they are still recorded.
    changed: HashMap<String, bool>,
    /// The recorded requirements of the rows, after their first use.
    recorded: OnceCell<Vec<RecordedRequirement>>,
    /// The batch's changes of them.
    records: Vec<Product>,
    /// Passages with their sentences, as far as calls have used them; none for a passage without text.
    layouts: Mutex<HashMap<i32, Option<Arc<Layout>>>>,
    /// The passage that the previous batch used last.
    kept: Option<(i32, Arc<Layout>)>,
    /// Whether a document was cut or extracted, which is not committed yet.
    is_reread: bool,
    judged: BTreeMap<Uuid, Verdict>,
    next_number: i32,
    looked_up: Mutex<LookedUp>,
}

/// Committed citations and requirements that calls have asked for; none where there is no such row.
#[derive(Default)]
struct LookedUp {
    citations: HashMap<String, Option<Citation>>,
    requirements: HashMap<Vec<u8>, Option<String>>,
}

impl<'a> WorkspaceOverlay<'a> {
    /// The committed rows without changes.
    pub(crate) fn new(rows: &'a dyn Workspace) -> Self {
        Self {
            rows,
            files: BTreeMap::new(),
            sources: rows.sources().to_vec(),
            passages: rows.passages(),
            citations: HashMap::new(),
            requirements: HashMap::new(),
            changed: HashMap::new(),
            recorded: OnceCell::new(),
            records: Vec::new(),
            layouts: Mutex::default(),
            kept: None,
            is_reread: false,
            judged: BTreeMap::new(),
            next_number: rows.next_number(),
            looked_up: Mutex::default(),
        }
    }

    /// The committed rows, overlaid with the same answer's uncommitted changes. The index of the rows already includes
    /// them. `layout`: the passage that [`WorkspaceOverlay::last_layout`] of the previous batch returned.
    pub(crate) fn over(rows: &'a dyn Workspace, uncommitted: &[&Product], layout: Option<(i32, Arc<Layout>)>) -> Self {
        let mut overlay = Self::new(rows);
        overlay.kept = layout;
        uncommitted.iter().for_each(|product| overlay.apply(std::slice::from_ref(*product)));
        for (path, layer) in &mut overlay.files {
            if let Layer::Appended { tail, committed } = layer {
                let size = rows.index().get(path).map_or(0, |facts| facts.size);
                *committed = size.saturating_sub(tail.len() as u64);
            }
        }
        overlay
    }

    /// The size of a file in bytes; none if there is no such file.
    pub(crate) fn size(&self, path: &str) -> Option<u64> {
        match self.files.get(path) {
            None => self.committed(path),
            Some(Layer::Whole(content)) => Some(content.len() as u64),
            Some(Layer::Appended { tail, committed }) => Some(committed + tail.len() as u64),
            Some(Layer::Deleted) => None,
        }
    }

    /// The content of a file; none if there is no such file.
    pub(crate) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, WorkspaceError> {
        match self.files.get(path) {
            None => self.rows.read(path).await,
            Some(Layer::Whole(content)) => Ok(Some(content.clone())),
            Some(Layer::Deleted) => Ok(None),
            Some(Layer::Appended { tail, .. }) => {
                let mut content = self.rows.read(path).await?.unwrap_or_default();
                content.extend_from_slice(tail);
                Ok(Some(content))
            }
        }
    }

    /// Whether this batch has written or deleted the file, so that the rows are out of date.
    pub(crate) fn is_touched(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether there are files below this path.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        self.beneath(path).next().is_some()
    }

    /// Paths and sizes of the files below a folder, sorted; the empty path is the workspace.
    pub(crate) fn list(&self, folder: &str) -> Vec<(&str, u64)> {
        let mut paths: Vec<&str> = self.beneath(folder).collect();
        paths.sort_unstable();
        paths.into_iter().filter_map(|path| Some((path, self.size(path)?))).collect()
    }

    fn beneath<'s>(&'s self, folder: &str) -> impl Iterator<Item = &'s str> + use<'s, 'a> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let from = prefix.clone();
        let committed = self.rows.index().range(from.clone()..).map(|(path, _)| path.as_str());
        let touched = self.files.range(from..).map(|(path, _)| path.as_str());
        let end = prefix.clone();
        committed
            .take_while(move |path| path.starts_with(&prefix))
            .filter(|path| !self.files.contains_key(*path))
            .chain(touched.take_while(move |path| path.starts_with(&end)).filter(|path| self.size(path).is_some()))
    }

    /// Existing paths that may have been meant by this one: the same file name elsewhere first.
    pub(crate) fn similar(&self, path: &str) -> Vec<&str> {
        nearest_by(stem(path), self.beneath("").take(MAX_COMPARED), |known| stem(known))
    }

    /// The job's documents.
    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The time that reads have lost to an outage so far.
    pub(crate) fn lost_time(&self) -> Duration {
        self.rows.lost_time()
    }

    /// The passages of the documents.
    pub(crate) fn passages(&self) -> &[PassagePlace] {
        &self.passages
    }

    /// A passage with its sentences, if a call of the batch has read it; the inner option is none if it has no text.
    pub(crate) fn layout(&self, passage: i32) -> Option<Option<Arc<Layout>>> {
        let mut layouts = self.layouts.lock();
        if let Some((number, layout)) = &self.kept
            && *number == passage
        {
            layouts.insert(passage, Some(Arc::clone(layout)));
        }
        layouts.get(&passage).cloned()
    }

    /// Caches a passage that was read, for later calls.
    pub(crate) fn keep_layout(&self, passage: i32, layout: Option<Arc<Layout>>) {
        self.layouts.lock().insert(passage, layout);
    }

    /// The passage with the highest number of those that the batch used, as a quote may begin in an earlier one; if it
    /// used none, that of the previous batch. None after a cut or an extraction that is not committed.
    pub(crate) fn last_layout(&self) -> Option<(i32, Arc<Layout>)> {
        if self.is_reread {
            return None;
        }
        let layouts = self.layouts.lock();
        let with_text = layouts.iter().filter_map(|(number, layout)| Some((*number, layout.as_ref()?)));
        let used = with_text.max_by_key(|(number, _)| *number).map(|(number, layout)| (number, Arc::clone(layout)));
        used.or_else(|| self.kept.clone())
    }

    /// Reads the citations with these ids and the requirements with these content keys, each kind at once: a later
    /// look at one of them asks the rows no more.
    pub(crate) async fn look_up(&self, mut ids: Vec<String>, mut keys: Vec<Vec<u8>>) -> Result<(), WorkspaceError> {
        ids.retain(|id| !self.citations.contains_key(id) && !self.looked_up.lock().citations.contains_key(id));
        keys.retain(|key| !self.looked_up.lock().requirements.contains_key(key));
        let citations = if ids.is_empty() { Vec::new() } else { self.rows.citations_with(&ids).await? };
        let requirements = if keys.is_empty() { Vec::new() } else { self.rows.requirements_known(&keys).await? };
        let mut known = self.looked_up.lock();
        known.citations.extend(ids.into_iter().map(|id| (id, None)));
        known.citations.extend(citations.into_iter().map(|citation| (citation.id.clone(), Some(citation))));
        known.requirements.extend(keys.into_iter().map(|key| (key, None)));
        known.requirements.extend(requirements.into_iter().map(|(key, id)| (key, Some(id))));
        Ok(())
    }

    /// A citation by id.
    pub(crate) async fn citation(&self, id: &str) -> Result<Option<Citation>, WorkspaceError> {
        if let Some(citation) = self.citations.get(id) {
            return Ok(Some(citation.clone()));
        }
        self.look_up(vec![id.to_owned()], Vec::new()).await?;
        Ok(self.looked_up.lock().citations.get(id).cloned().flatten())
    }

    /// The `candidate_id` of a recorded requirement.
    pub(crate) async fn requirement(&self, content_key: &[u8]) -> Result<Option<String>, WorkspaceError> {
        if let Some(id) = self.requirements.get(content_key) {
            return Ok(Some(id.clone()));
        }
        let id = candidate_id_of(content_key);
        if self.changed.get(&id) == Some(&true) {
            return Ok(Some(id));
        }
        self.look_up(Vec::new(), vec![content_key.to_owned()]).await?;
        let known = self.looked_up.lock().requirements.get(content_key).cloned().flatten();
        Ok(known.filter(|id| self.changed.get(id) != Some(&false)))
    }

    /// The job's recorded requirements, including withdrawn ones, in the order of recording.
    pub(crate) async fn recorded(&self) -> Result<Vec<RecordedRequirement>, WorkspaceError> {
        let mut recorded = self.recorded.get_or_try_init(|| self.rows.recorded()).await?.clone();
        apply_requirement_changes(&mut recorded, self.records.iter());
        Ok(recorded)
    }

    /// The ids that this answer has recorded or changed: for these the rows are out of date.
    pub(crate) fn touched(&self) -> BTreeSet<&str> {
        self.changed.keys().chain(self.requirements.values()).map(String::as_str).collect()
    }

    /// How many requirements are recorded beyond the rows.
    pub(crate) fn more_recorded(&self) -> i64 {
        let is_new = |product: &&Product| matches!(product, Product::AddRequirement(_));
        let is_withdrawn =
            |product: &&Product| matches!(product, Product::ChangeRequirement(change) if change.becomes.is_none());
        let count = |records: usize| i64::try_from(records).unwrap_or(i64::MAX);
        count(self.records.iter().filter(is_new).count()) - count(self.records.iter().filter(is_withdrawn).count())
    }

    /// The recorded requirements with these ids.
    pub(crate) async fn recorded_as(&self, ids: &[String]) -> Result<Vec<RecordedRequirement>, WorkspaceError> {
        let committed = self.recorded.get_or_try_init(|| self.rows.recorded()).await?;
        let is_meant = |known: &&RecordedRequirement| ids.contains(&known.requirement.candidate_id);
        let mut recorded: Vec<RecordedRequirement> = committed.iter().filter(is_meant).cloned().collect();
        apply_requirement_changes(&mut recorded, self.records.iter());
        recorded.retain(|known| ids.contains(&known.requirement.candidate_id));
        Ok(recorded)
    }

    /// The requirements that are not withdrawn and whose first quote begins at this sentence of the passage; for those
    /// of this batch, any quote there.
    pub(crate) fn requirements_at(&self, passage: i32, sentence: i32) -> Vec<String> {
        let mut ids = self.rows.requirements_at(passage, sentence);
        let here = self.records.iter().filter_map(|product| match product {
            Product::AddRequirement(requirement) => Some(&**requirement),
            Product::ChangeRequirement(change) => change.becomes.as_deref(),
            _ => None,
        });
        ids.extend(here.map(|requirement| requirement.candidate_id.clone()));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The number of the next requirement.
    pub(crate) fn next_number(&self) -> i32 {
        self.next_number
    }

    /// This batch's judgements, which are not in the rows yet.
    pub(crate) fn judged(&self) -> &BTreeMap<Uuid, Verdict> {
        &self.judged
    }

    /// Applies a call's products.
    pub(crate) fn apply(&mut self, products: &[Product]) {
        for product in products {
            match product {
                Product::WriteFile(file) => self.put(&file.path, Layer::Whole(file.content.clone())),
                Product::ShareFiles(shared) => {
                    shared.files.iter().for_each(|file| self.put(&file.path, Layer::Whole(file.content.to_vec())));
                }
                Product::AppendFile { path, text } => self.append(path, text.as_bytes()),
                Product::DeleteFile { path } => self.put(path, Layer::Deleted),
                Product::AddSource(source) => {
                    self.forget_layouts();
                    match self.sources.iter_mut().find(|known| known.path == source.path) {
                        Some(known) => *known = source.clone(),
                        None => self.sources.push(source.clone()),
                    }
                }
                Product::CutDocument(cut) => {
                    self.forget_layouts();
                    self.passages.retain(|passage| passage.document != cut.document);
                    self.passages.extend(cut.passages.iter().map(PassagePlace::from));
                }
                Product::AddCitation(citation) => {
                    self.citations.insert(citation.id.clone(), citation.clone());
                }
                Product::DecidePassage(_) | Product::DeliverQuotes(_) => {}
                Product::AddRequirement(requirement) => {
                    let next = requirement.number.map_or(self.next_number, |number| number + 1);
                    self.next_number = self.next_number.max(next);
                    self.requirements.insert(requirement.content_key.clone(), requirement.candidate_id.clone());
                    self.records.push(product.clone());
                }
                Product::ChangeRequirement(change) => {
                    self.change(change);
                    self.records.push(product.clone());
                }
                Product::JudgeRequirement(judgement) => {
                    self.judged.insert(judgement.id, judgement.verdict);
                }
            }
        }
    }

    fn forget_layouts(&mut self) {
        self.layouts.get_mut().clear();
        (self.kept, self.is_reread) = (None, true);
    }

    /// From now on a requirement is identified by its new text.
    fn change(&mut self, change: &RequirementChange) {
        self.requirements.retain(|_, id| *id != change.candidate_id);
        self.changed.insert(change.candidate_id.clone(), change.becomes.is_some());
        if let Some(becomes) = &change.becomes {
            self.requirements.insert(becomes.content_key.clone(), becomes.candidate_id.clone());
        }
    }

    /// The size of a file by the rows' index.
    fn committed(&self, path: &str) -> Option<u64> {
        self.rows.index().get(path).map(|facts| facts.size)
    }

    fn put(&mut self, path: &str, layer: Layer) {
        self.files.insert(path.to_string(), layer);
    }

    fn append(&mut self, path: &str, tail: &[u8]) {
        match self.files.get_mut(path) {
            Some(Layer::Whole(content) | Layer::Appended { tail: content, .. }) => content.extend_from_slice(tail),
            Some(Layer::Deleted) => self.put(path, Layer::Whole(tail.to_vec())),
            None => {
                let committed = self.committed(path).unwrap_or(0);
                self.put(path, Layer::Appended { tail: tail.to_vec(), committed });
            }
        }
    }
}

/// The last component of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A file's name without its extension, which most files share and which says nothing about what was meant.
fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}
