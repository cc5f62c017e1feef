//! The bundle while an adapter writes it.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;

use crate::{
    bundle::{Artifact, Bundle, Call, Origin, Reference, Request, Source, Status, Trust},
    finding::{Coordinate, Finding, Gap, Place, Reason, Rule},
    json::{Kind, NodeId, Quirks, joined},
    limits::{Budget, Exhausted, Resource},
};

use super::{Attachment, encoded, link, rules, sheet::Sheet};

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
    keys: HashSet<(Trust, Bytes)>,
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
            keys: HashSet::new(),
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

    /// Whether no more artifacts can be made, and that was said. Then nothing more is built for any.
    fn is_full(&self) -> bool {
        self.limits_met.contains(&Resource::Artifacts)
    }

    /// A text under its claim. Something that is no string is left to be read as unclaimed.
    pub(crate) fn text(&mut self, sheet: &Sheet, id: NodeId, origin: Origin, call: Option<usize>) -> Option<usize> {
        match sheet.kind(id) {
            Kind::Text => {}
            Kind::Null => return None,
            _ => {
                self.odd_shape(sheet, id, "a string");
                return None;
            }
        }
        sheet.claim(id);
        if self.is_full() {
            return None;
        }
        let at = sheet.pointer(id);
        match sheet.doc.string(id, self.budget) {
            Ok(text) => self.add_text(text?, at, origin, call),
            Err(exhausted) => {
                self.limit(exhausted, Some(at));
                None
            }
        }
    }

    /// Every text under a key; the key is claimed.
    pub(crate) fn texts(&mut self, sheet: &Sheet, object: NodeId, key: &str, origin: Origin, call: Option<usize>) {
        for id in sheet.take(object, key) {
            self.text(sheet, id, origin, call);
        }
    }

    /// Names, titles, messages under these keys.
    pub(crate) fn described(&mut self, sheet: &Sheet, object: NodeId, keys: &[&str], call: Option<usize>) {
        for id in sheet.take_any(object, keys) {
            self.text(sheet, id, Origin::Metadata, call);
        }
    }

    /// A text that is a string or a list of strings (nbformat, `lines`): joined before it is read, so that a word cut
    /// in two is one.
    pub(crate) fn lines(
        &mut self,
        sheet: &Sheet,
        id: NodeId,
        between: &str,
        origin: Origin,
        call: Option<usize>,
    ) -> Option<usize> {
        let Kind::Array = sheet.kind(id) else { return self.text(sheet, id, origin, call) };
        let joined = self.join(sheet, id, between);
        self.add_text(joined, sheet.pointer(id), origin, call)
    }

    /// The strings of a list as one text. Claims them.
    fn join(&mut self, sheet: &Sheet, list: NodeId, between: &str) -> Bytes {
        let mut joined = Vec::new();
        for item in sheet.doc.children(list) {
            let text = sheet.doc.string(item, self.budget).and_then(|text| {
                let length = text.as_ref().map_or(0, Bytes::len);
                self.budget.spend(Resource::DecodedBytes, u64::try_from(length).unwrap_or(u64::MAX))?;
                Ok(text)
            });
            match text {
                Ok(Some(text)) => {
                    sheet.claim(item);
                    if !joined.is_empty() {
                        joined.extend_from_slice(between.as_bytes());
                    }
                    joined.extend_from_slice(&text);
                }
                Ok(None) => {}
                Err(exhausted) => self.limit(exhausted, Some(sheet.pointer(list))),
            }
        }
        joined.into()
    }

    /// Raw pieces of JSON strings that a stream cut, as one text.
    pub(crate) fn joined(&mut self, raw: &[u8], at: String, origin: Origin, call: Option<usize>) {
        if let Some(text) = self.decode(raw, &at) {
            self.add_text(text, at, origin, call);
        }
    }

    /// Raw pieces of JSON strings, decoded as one.
    pub(crate) fn decode(&mut self, raw: &[u8], at: &str) -> Option<Bytes> {
        match joined(raw, self.budget) {
            Ok(text) => Some(text),
            Err(exhausted) => {
                self.limit(exhausted, Some(at.to_owned()));
                None
            }
        }
    }

    /// Every string of a value in one role: JSON without a fixed shape that belongs to a call. Its keys stay
    /// unclaimed.
    pub(crate) fn tree(&mut self, sheet: &Sheet, id: NodeId, origin: Origin, call: Option<usize>) {
        for id in sheet.doc.descendants(id) {
            if sheet.kind(id) == Kind::Text && !sheet.is_claimed(id) {
                self.text(sheet, id, origin, call);
            }
        }
    }

    /// Arguments of a tool, worded by the model. The usual keys are vocabulary.
    pub(crate) fn arguments(&mut self, sheet: &Sheet, id: NodeId, call: Option<usize>) {
        self.tree(sheet, id, Origin::Code, call);
        for id in sheet.doc.children(id) {
            if sheet.doc.key(id).is_some_and(|key| ARGUMENTS.contains(&&*key)) {
                sheet.claim_key(id);
            }
        }
    }

    /// A text as an artifact; nothing for an empty one.
    pub(crate) fn add_text(&mut self, text: Bytes, at: String, origin: Origin, call: Option<usize>) -> Option<usize> {
        let trust = match origin {
            Origin::Code => Trust::Model,
            Origin::Message | Origin::Unclaimed if self.trust == Trust::Caller => Trust::Caller,
            Origin::Message => Trust::Model,
            _ => Trust::Tool,
        };
        let mut artifact = Artifact::new(origin, Source::stored(text));
        artifact.trust = trust;
        artifact.at = Some(at);
        artifact.call = call;
        self.add(artifact)
    }

    /// An artifact. The same bytes twice are one: pictures and files wherever they are, texts of one call in one role.
    pub(crate) fn add(&mut self, artifact: Artifact) -> Option<usize> {
        let bytes = &artifact.source.packed;
        if bytes.is_empty() {
            return None;
        }
        let is_file = |origin: Origin| matches!(origin, Origin::Image | Origin::File);
        let earlier = self.same.get(bytes).into_iter().flatten().copied().find(|index| {
            self.bundle.artifacts.get(*index).is_some_and(|known| {
                is_file(known.origin) && is_file(artifact.origin)
                    || known.origin == artifact.origin && known.trust == artifact.trust && known.call == artifact.call
            })
        });
        if let Some(known) = earlier.and_then(|index| self.bundle.artifacts.get_mut(index)) {
            known.declared = known.declared.take().or(artifact.declared);
            known.name = known.name.take().or(artifact.name);
            known.reference = known.reference.or(artifact.reference);
            if let Some(at) = artifact.at.filter(|at| Some(at) != known.at.as_ref()) {
                match self.budget.spend(Resource::DecodedBytes, u64::try_from(at.len()).unwrap_or(u64::MAX)) {
                    Ok(()) => known.also_at.push(at),
                    Err(exhausted) => self.limit(exhausted, Some(at)),
                }
            }
            return earlier;
        }
        let index = self.bundle.artifacts.len();
        // The scan pays for artifacts when it takes them; more than it can pay for are not made.
        if u64::try_from(index).unwrap_or(u64::MAX) >= self.budget.left(Resource::Artifacts) {
            self.limit(Exhausted(Resource::Artifacts), artifact.at);
            return None;
        }
        self.same.entry(bytes.clone()).or_default().push(index);
        self.bundle.artifacts.push(artifact);
        Some(index)
    }

    /// The name and type that came with an artifact.
    pub(crate) fn describe(&mut self, artifact: Option<usize>, name: Option<String>, declared: Option<String>) {
        if let Some(artifact) = artifact.and_then(|index| self.bundle.artifacts.get_mut(index)) {
            artifact.name = artifact.name.take().or(name);
            artifact.declared = artifact.declared.take().or(declared);
        }
    }

    /// Bytes in base64 or a data URL. What cannot be decoded is a gap and stays to be read as text.
    pub(crate) fn bytes(
        &mut self,
        sheet: &Sheet,
        id: NodeId,
        origin: Origin,
        declared: Option<String>,
        call: Option<usize>,
    ) -> Option<usize> {
        if self.is_full() {
            return None;
        }
        let at = sheet.pointer(id);
        let text = match sheet.kind(id) {
            Kind::Text => sheet.doc.string(id, self.budget),
            // nbformat wraps base64 into a list of lines.
            Kind::Array => Ok(Some(self.join(sheet, id, ""))),
            Kind::Null => return None,
            _ => {
                self.odd_shape(sheet, id, "base64");
                return None;
            }
        };
        let carried = text.and_then(|text| match text {
            Some(text) if encoded::is_data_url(&text) => encoded::data_url(&text, self.budget),
            Some(text) => encoded::base64(&text, self.budget),
            None => Ok(None),
        });
        let carried = match carried {
            Ok(Some(carried)) => carried,
            Ok(None) => {
                self.gap(Reason::Malformed, "bytes that are neither base64 nor a data URL: read as text", Some(at));
                sheet.doc.children(id).for_each(|line| sheet.unclaim(line));
                return None;
            }
            Err(exhausted) => {
                self.limit(exhausted, Some(at));
                return None;
            }
        };
        if let Some(odd) = carried.odd {
            self.find(&rules::BASE64, odd, Some(at.clone()));
        }
        sheet.claim(id);
        let mut artifact = Artifact::new(origin, Source::stored(carried.bytes));
        artifact.declared = declared.or(carried.declared);
        artifact.at = Some(at);
        artifact.call = call;
        self.add(artifact)
    }

    /// Base64 where the vendor may as well send text (`view` of a picture): `None`, and no gap, when it is none.
    pub(crate) fn bytes_if_base64(
        &mut self,
        sheet: &Sheet,
        id: NodeId,
        origin: Origin,
        declared: Option<String>,
        call: Option<usize>,
    ) -> Option<usize> {
        let carried = sheet.doc.string(id, self.budget).and_then(|text| match text {
            // The shortest picture there is has more than 24 bytes.
            Some(text) if text.len() >= 32 => encoded::base64(&text, self.budget),
            _ => Ok(None),
        });
        match carried {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(exhausted) => {
                self.limit(exhausted, Some(sheet.pointer(id)));
                return None;
            }
        }
        self.bytes(sheet, id, origin, declared, call)
    }

    /// A URL of a picture or a file: a data URL is decoded, the vendor's own is a reference, anything else is read as
    /// text and said to be what it is.
    pub(crate) fn url(&mut self, sheet: &Sheet, id: NodeId, origin: Origin, call: Option<usize>) {
        let text = match sheet.doc.string(id, self.budget) {
            Ok(Some(text)) => text,
            Ok(None) if sheet.kind(id) == Kind::Null => return,
            Ok(None) => return self.odd_shape(sheet, id, "a URL"),
            Err(exhausted) => return self.limit(exhausted, Some(sheet.pointer(id))),
        };
        if text.is_empty() {
            return;
        }
        if encoded::is_data_url(&text) {
            self.bytes(sheet, id, origin, None, call);
            return;
        }
        self.text(sheet, id, Origin::Metadata, call);
        let url = String::from_utf8_lossy(&text).into_owned();
        self.link(url, sheet.pointer(id), call);
    }

    /// A URL that is not a data URL.
    fn link(&mut self, url: String, at: String, call: Option<usize>) {
        if url.len() > link::URL_BYTES {
            return self.find(&rules::REFERENCE, "a URL longer than any that is fetched", Some(at));
        }
        let vendor = self.vendor;
        let request = match link::judge(&url, vendor.hosts) {
            link::Link::Vendor => Some(Request { method: "GET", url: url.clone(), auth: vendor.auth.to_owned() }),
            link::Link::Script => {
                self.find(
                    &rules::SCRIPT_URL,
                    "a URL whose scheme runs code stands where a picture or file is due",
                    Some(at),
                );
                return;
            }
            link::Link::Internal => {
                self.find(&rules::INTERNAL_URL, "a reference into the private network", Some(at.clone()));
                None
            }
            link::Link::Foreign => {
                self.find(&rules::REFERENCE, "a URL outside the vendor's hosts", Some(at.clone()));
                None
            }
        };
        self.refer("url", url, None, request, at, call);
    }

    /// A file the vendor keeps: joined with its bytes when the caller attached them, else a gap.
    pub(crate) fn refer(
        &mut self,
        kind: &'static str,
        id: String,
        name: Option<String>,
        request: Option<Request>,
        at: String,
        call: Option<usize>,
    ) {
        let key = (kind, id);
        if let Some(known) = self.references.get(&key).and_then(|index| self.bundle.references.get_mut(*index)) {
            known.name = known.name.take().or(name);
            known.request = known.request.take().or(request);
            known.call = known.call.or(call);
            return;
        }
        let index = self.bundle.references.len();
        let (kind, id) = key.clone();
        self.references.insert(key, index);
        let attachment = self.attachments.iter().find(|attachment| attachment.reference == id);
        if let Some(attachment) = attachment {
            let mut artifact = Artifact::new(Origin::File, Source::stored(attachment.bytes.clone()));
            artifact.name = name.clone();
            artifact.reference = Some(index);
            artifact.call = call;
            artifact.at = Some(at);
            self.add(artifact);
        } else {
            let how = request.as_ref().map_or_else(
                || "no safe request can be built for it".to_owned(),
                |request| format!("fetch {} {} and attach it", request.method, request.url),
            );
            self.gap(Reason::NotFetched, how, Some(at));
        }
        self.bundle.references.push(Reference { id, kind, call, name, request });
    }

    /// The words of an enumeration that is outside its list, cut for a status reason; the value itself is read too.
    pub(crate) fn raw_word(sheet: &Sheet, id: NodeId) -> String {
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
                    // The same unknown key in every row of a table is one text.
                    Ok(Some(key)) if !key.is_empty() && self.keys.insert((self.trust, key.clone())) => {
                        self.add_text(key, sheet.pointer(id), Origin::Unclaimed, None);
                    }
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
