//! The bundle while an adapter writes it.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;

use crate::{
    bundle::{Bundle, Call, Origin, Spelling, Status, Trust, Written},
    finding::{Coordinate, Finding, Gap, Place, Reason, Rule},
    json::{Kind, NodeId, Quirks},
    limits::{Budget, Exhausted, Resource},
};

use super::{Attachment, rules, sheet::Sheet};

mod read;

/// Findings of one rule, or gaps of one reason, that an envelope keeps; a flood of them says nothing new.
const SAME_FINDINGS: usize = 64;
/// Characters of a status reason taken from an enumeration the vendor sent.
const REASON_BYTES: usize = 80;

/// Arguments of the vendors' own tools (SHAPES 1 to 4).
const ARGUMENTS: &[&str] = &[
    "code",
    "command",
    "commands",
    "restart",
    "path",
    "file_text",
    "old_str",
    "new_str",
    "insert_line",
    "insert_text",
    "view_range",
    "query",
    "url",
    "language",
    "clear_context",
    "clearContext",
];

/// Everything an adapter writes into.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    /// What it makes.
    pub(crate) bundle: Bundle,
    /// Found in the envelope itself.
    pub(crate) findings: Vec<Finding>,
    /// Not seen of the envelope itself.
    pub(crate) gaps: Vec<Gap>,
    /// Literal strings that must not appear anywhere, given by a bundle.
    pub(crate) watch: Vec<Bytes>,
    /// Bound into the receipt, given by a bundle.
    pub(crate) context: BTreeMap<String, String>,
    /// What kind of payload it is, in the vendor's words.
    pub(crate) surface: Option<&'static str>,
    /// Who words what is read next: the caller, inside a request's own messages.
    pub(crate) trust: Trust,
    /// Whose files the references are.
    pub(crate) vendor: Vendor,
    /// The one budget.
    pub(crate) budget: &'a mut Budget,
    attachments: &'a [Attachment],
    /// Which calls were told how they ended.
    stated: Vec<bool>,
    /// All calls before that one were told how they ended.
    heard: usize,
    /// Which calls were said to be under way.
    under_way: HashSet<usize>,
    ids: HashMap<String, usize>,
    same: HashMap<Bytes, Vec<usize>>,
    references: HashMap<(&'static str, String), usize>,
    counted: HashMap<&'static str, usize>,
    keys: HashMap<(Trust, Bytes), Option<usize>>,
    limits_met: HashSet<Resource>,
}

impl<'a> Draft<'a> {
    /// Nothing written yet.
    pub(crate) fn new(attachments: &'a [Attachment], budget: &'a mut Budget) -> Self {
        Self {
            bundle: Bundle::default(),
            findings: Vec::new(),
            gaps: Vec::new(),
            watch: Vec::new(),
            context: BTreeMap::new(),
            surface: None,
            trust: Trust::Tool,
            vendor: Vendor { auth: "", hosts: &[] },
            budget,
            attachments,
            stated: Vec::new(),
            heard: 0,
            under_way: HashSet::new(),
            ids: HashMap::new(),
            same: HashMap::new(),
            references: HashMap::new(),
            counted: HashMap::new(),
            keys: HashMap::new(),
            limits_met: HashSet::new(),
        }
    }

    /// The call of that id, or a new one. An empty id is none: xAI sends `call_id: ""` (SHAPES 3.1).
    pub(crate) fn call(&mut self, id: Option<String>, tool: Option<&str>) -> usize {
        let id = id.filter(|id| !id.is_empty());
        let known = id.as_ref().and_then(|id| self.ids.get(id).copied());
        let index = known.unwrap_or_else(|| {
            self.bundle.calls.push(Call { id: id.clone(), ..Call::new() });
            self.stated.push(false);
            self.bundle.calls.len().saturating_sub(1)
        });
        if let Some(id) = id {
            self.ids.insert(id, index);
        }
        if let (Some(call), Some(tool)) = (self.bundle.calls.get_mut(index), tool) {
            call.tool.get_or_insert_with(|| tool.to_owned());
        }
        index
    }

    /// The call of that id, if there is one.
    pub(crate) fn find_call(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// Another id for a call: items name it by `id` and by `call_id`.
    pub(crate) fn also_called(&mut self, id: &str, call: usize) {
        if !id.is_empty() {
            self.ids.entry(id.to_owned()).or_insert(call);
        }
    }

    /// One more thing that says how a call ended. The worst wins, whatever comes later (SHAPES 0).
    pub(crate) fn state(&mut self, call: usize, status: Status, reason: impl Into<String>) {
        let (Some(known), Some(stated)) = (self.bundle.calls.get_mut(call), self.stated.get_mut(call)) else { return };
        if !*stated || status > known.status {
            known.status = status;
            known.status_reason = reason.into();
        }
        *stated = true;
    }

    /// Something says that a call is under way. Streams say it before they say how it ended, so it only counts when
    /// nothing else does.
    pub(crate) fn progress(&mut self, call: usize) {
        self.under_way.insert(call);
    }

    /// Whether a call was said to be under way.
    pub(crate) fn is_under_way(&self, call: usize) -> bool {
        self.under_way.contains(&call)
    }

    /// Ends the calls that were only said to be under way.
    pub(crate) fn settle(&mut self) {
        for call in std::mem::take(&mut self.under_way) {
            self.state_if_silent(call, Status::Pending, "it is still under way");
        }
    }

    /// Calls of which nothing said how they ended, in order.
    pub(crate) fn silent(&self) -> Vec<usize> {
        (0..self.bundle.calls.len()).filter(|call| !self.is_stated(*call) && !self.under_way.contains(call)).collect()
    }

    /// The first call of which nothing said how it ended: the one a result without an id belongs to.
    pub(crate) fn first_silent(&mut self) -> Option<usize> {
        // Nothing takes a statement back, so the search goes on where it ended.
        while self.is_stated(self.heard) {
            self.heard = self.heard.saturating_add(1);
        }
        (self.heard < self.bundle.calls.len()).then_some(self.heard)
    }

    /// Whether anything said how a call ended.
    pub(crate) fn is_stated(&self, call: usize) -> bool {
        self.stated.get(call).copied().unwrap_or(false)
    }

    /// For a call of which nothing said how it ended.
    pub(crate) fn state_if_silent(&mut self, call: usize, status: Status, reason: &str) {
        if !self.is_stated(call) {
            self.state(call, status, reason);
        }
    }

    /// For every call of which nothing said how it ended.
    pub(crate) fn state_all_silent(&mut self, status: Status, reason: &str) {
        for call in self.silent() {
            self.state_if_silent(call, status, reason);
        }
    }

    /// An exit code as [`Sheet::take_integer`] gives it: nothing, something that is no integer, or one.
    pub(crate) fn exit(&mut self, call: usize, code: Option<Option<i64>>) {
        match code {
            None => {}
            Some(None) => self.state(call, Status::Unknown, "the exit code is not an integer"),
            Some(Some(code)) => {
                let status = if code == 0 { Status::Ok } else { Status::Failed };
                self.state(call, status, format!("exit code {code}"));
                if let Some(call) = self.bundle.calls.get_mut(call)
                    && (call.exit_code.is_none() || call.exit_code == Some(0))
                {
                    call.exit_code = Some(code);
                }
            }
        }
    }

    /// The status of the envelope as a whole; the worst wins.
    pub(crate) fn overall(&mut self, status: Status) {
        self.bundle.status = Some(self.bundle.status.map_or(status, |known| known.max(status)));
    }

    /// The container a call ran in.
    pub(crate) fn container(&mut self, call: usize, container: Option<String>) {
        if let (Some(call), Some(container)) = (self.bundle.calls.get_mut(call), container) {
            call.container.get_or_insert(container);
        }
    }

    /// Who called.
    pub(crate) fn caller(&mut self, call: usize, caller: Option<String>) {
        if let (Some(call), Some(caller)) = (self.bundle.calls.get_mut(call), caller) {
            call.caller.get_or_insert(caller);
        }
    }

    /// Something not seen.
    pub(crate) fn gap(&mut self, reason: Reason, detail: impl Into<String>, at: Option<String>) {
        if self.gaps.iter().filter(|gap| gap.reason == reason).count() >= SAME_FINDINGS {
            return;
        }
        let mut gap = Gap::new(reason, detail);
        gap.at = at;
        self.gaps.push(gap);
    }

    /// A limit stopped part of the work. Said once for each resource.
    pub(crate) fn limit(&mut self, exhausted: Exhausted, at: Option<String>) {
        if self.limits_met.insert(exhausted.0) {
            let mut gap = crate::finding::Stop::from(exhausted).into_gap();
            gap.at = at;
            self.gaps.push(gap);
        }
    }

    /// Something seen of the envelope itself.
    pub(crate) fn find(&mut self, rule: &'static Rule, message: impl Into<String>, at: Option<String>) {
        let count = self.counted.entry(match &rule.id {
            std::borrow::Cow::Borrowed(id) => id,
            std::borrow::Cow::Owned(_) => "",
        });
        let count = count.or_default();
        *count = count.saturating_add(1);
        if *count > SAME_FINDINGS {
            return;
        }
        let mut place = Place::default();
        if let Some(at) = at {
            place.0.insert("pointer", Coordinate::Name(at));
        }
        self.findings.push(Finding::built_in(rule).place(place).message(message));
    }

    /// A field of another type than the vendor documents. Not claimed: whatever text is in it is read.
    pub(crate) fn odd_shape(&mut self, sheet: &Sheet, id: NodeId, wanted: &str) {
        let found = sheet.kind(id).with_article();
        self.find(&rules::SHAPE, format!("{wanted} was expected, {found} stands there"), Some(sheet.pointer(id)));
    }

    /// The words of an enumeration that is outside its list, cut for a status reason; the value itself is read too.
    pub(crate) fn raw_word(sheet: &Sheet, id: NodeId) -> String {
        if let Some(number) = sheet.doc.integer(id) {
            return number.to_string();
        }
        let word = sheet.doc.word(id).unwrap_or_default();
        let plain = word.len() <= REASON_BYTES && super::sheet::is_id(&word);
        if plain { word.into_owned() } else { "a word outside its list".to_owned() }
    }

    /// Reads everything that nobody claimed, keys included, and says what was odd about the document.
    pub(crate) fn sweep(&mut self, sheet: &Sheet) {
        let trust = self.trust;
        for id in sheet.doc.ids() {
            self.trust = if sheet.is_callers(id) { Trust::Caller } else { Trust::Tool };
            if !sheet.is_key_claimed(id) && !self.is_full() {
                match sheet.doc.key_text(id, self.budget) {
                    Ok(Some(key)) if !key.is_empty() => self.unclaimed_key(sheet, id, key),
                    Ok(_) => {}
                    Err(exhausted) => self.limit(exhausted, Some(sheet.pointer(id))),
                }
            }
            if sheet.kind(id) == Kind::Text && !sheet.is_claimed(id) {
                self.text(sheet, id, Origin::Unclaimed, None);
            }
        }
        self.trust = trust;
        self.say_quirks(sheet);
    }

    /// A key that nobody claimed. The same unknown key in every row of a table is one text, written many times.
    fn unclaimed_key(&mut self, sheet: &Sheet, id: NodeId, key: Bytes) {
        let written = sheet.key_piece(id).map(|piece| Written::strings(vec![piece], Spelling::Json));
        match self.keys.get(&(self.trust, key.clone())) {
            Some(known) => {
                let artifact = known.and_then(|index| self.bundle.artifacts.get_mut(index));
                if let (Some(artifact), Some(written)) = (artifact, written) {
                    artifact.written.push(written);
                }
            }
            None => {
                let made = self.add_text(key.clone(), sheet.pointer(id), Origin::Unclaimed, None, written);
                self.keys.insert((self.trust, key), made);
            }
        }
    }

    fn say_quirks(&mut self, sheet: &Sheet) {
        for quirk in Quirks::ALL {
            if let (Some((count, first)), Some((rule, words))) = (sheet.doc.quirks.of(quirk), rules::of(quirk)) {
                let offset = sheet.base.saturating_add(first);
                let message = format!("{words}: {count} times, first at offset {offset}");
                self.find(rule, message, Some(sheet.at.clone()));
            }
        }
        for id in &sheet.doc.duplicates {
            self.find(
                &rules::DUPLICATE_KEY,
                "an object has this key twice: both values were read",
                Some(sheet.pointer(*id)),
            );
        }
    }
}

/// Whose files they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vendor {
    /// Whose credentials a request needs.
    pub(crate) auth: &'static str,
    /// Hosts whose https URLs may be fetched.
    pub(crate) hosts: &'static [&'static str],
}
