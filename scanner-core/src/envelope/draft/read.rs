//! What becomes an artifact or a reference: texts, lines, bytes, URLs, files.

use bytes::Bytes;

use crate::{
    bundle::{Artifact, Origin, Piece, Reference, Request, Source, Spelling, Trust, Written},
    finding::Reason,
    json::{Kind, NodeId, joined},
    limits::{Exhausted, Resource},
};

use super::{ARGUMENTS, Draft};
use crate::envelope::{encoded, link, rules, sheet::Sheet};

impl Draft<'_> {
    /// Whether no more artifacts can be made, and that was said. Then nothing more is built for any.
    pub(super) fn is_full(&self) -> bool {
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
            Ok(text) => self.add_text(text?, at, origin, call, Some(sheet.written(id))),
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
        between: &'static str,
        origin: Origin,
        call: Option<usize>,
    ) -> Option<usize> {
        let Kind::Array = sheet.kind(id) else { return self.text(sheet, id, origin, call) };
        let (joined, written) = self.join(sheet, id, between);
        self.add_text(joined, sheet.pointer(id), origin, call, Some(written))
    }

    /// The strings of a list as one text. Claims them.
    fn join(&mut self, sheet: &Sheet, list: NodeId, between: &'static str) -> (Bytes, Written) {
        let mut joined = Vec::new();
        let mut pieces = Vec::new();
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
                    pieces.push(sheet.piece(item));
                }
                Ok(None) => {}
                Err(exhausted) => self.limit(exhausted, Some(sheet.pointer(list))),
            }
        }
        (joined.into(), Written::strings(pieces, Spelling::Lines(between)))
    }

    /// Raw pieces of JSON strings that a stream cut, as one text.
    pub(crate) fn joined(&mut self, pieces: Vec<Piece>, at: String, origin: Origin, call: Option<usize>) {
        let raw: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes.iter().copied()).collect();
        if let Some(text) = self.decode(&raw, &at) {
            self.add_text(text, at, origin, call, Some(Written::strings(pieces, Spelling::Json)));
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
    pub(crate) fn add_text(
        &mut self,
        text: Bytes,
        at: String,
        origin: Origin,
        call: Option<usize>,
        written: Option<Written>,
    ) -> Option<usize> {
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
        artifact.written.extend(written);
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
            known.written.extend(artifact.written);
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
            Kind::Text => sheet.doc.string(id, self.budget).map(|text| text.map(|text| (text, sheet.written(id)))),
            // nbformat wraps base64 into a list of lines.
            Kind::Array => Ok(Some(self.join(sheet, id, ""))),
            Kind::Null => return None,
            _ => {
                self.odd_shape(sheet, id, "base64");
                return None;
            }
        };
        let carried = text.and_then(|text| match text {
            Some((text, written)) => {
                let carried = match encoded::is_data_url(&text) {
                    true => encoded::data_url(&text, self.budget),
                    false => encoded::base64(&text, self.budget),
                };
                Ok(carried?.map(|carried| (carried, written)))
            }
            None => Ok(None),
        });
        let (carried, written) = match carried {
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
        artifact.written.push(written.encoded());
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
}
