//! Judges elements, scripts and styles: what runs, what loads, what leads elsewhere.

use std::{
    collections::{BTreeMap, HashSet},
    ops::Range,
};

use bytes::Bytes;
use memchr::{memchr, memchr_iter, memmem};

use super::{
    address::Address,
    css,
    element::{Element, Property, acts, is_handler},
    rules, script,
};
use crate::{
    bundle::Source,
    envelope::encoded,
    finding::{Finding, Rule, Severity, Stop, sha256_hex},
    format::Out,
    limits::Budget,
    reader::count,
    view::TextView,
};

/// Findings of one rule that are told one by one; the rest is one number.
const LISTED: u64 = 16;
/// More attributes than that on one element serve nobody.
const ATTRIBUTES_MOST: usize = 1000;
/// Longest data URL whose kind is looked at before it is decoded.
const CARRIED_LEAST: usize = 16;

/// What following an attribute's address does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// It is loaded and shown.
    Load,
    /// It is loaded as a part that may run script.
    Part,
    /// It is loaded as a page in the page.
    Frame,
    /// It is loaded for another program.
    Object,
    /// It is loaded and run.
    Script,
    /// It is followed when somebody chooses to.
    Link,
    /// Input goes there.
    Submit,
    /// What every other address is relative to.
    Base,
    /// It may become an address.
    Maybe,
}

/// The judge of one text.
#[derive(Debug)]
pub(in crate::format) struct Judge<'a> {
    view: &'a TextView,
    told: BTreeMap<&'static str, (Finding, u64)>,
    carried: HashSet<String>,
    /// A line counted from one, and where it was counted to.
    line: (u64, usize),
    /// Something runs when the text is shown.
    pub(in crate::format) is_active: bool,
}

impl<'a> Judge<'a> {
    pub(in crate::format) fn of(view: &'a TextView) -> Self {
        Self { view, told: BTreeMap::new(), carried: HashSet::new(), line: (1, 0), is_active: false }
    }

    /// Tells a finding at a range of the text, the first ones of each rule.
    pub(in crate::format) fn tell(&mut self, rule: &'static Rule, range: Range<usize>, message: &str, out: &mut Out<'_>) {
        self.tell_as(rule, rule.severity, range, message, out);
    }

    pub(in crate::format) fn tell_as(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        range: Range<usize>,
        message: &str,
        out: &mut Out<'_>,
    ) {
        self.is_active |= rule.category.starts_with("html.") && severity > Severity::Low;
        let place = self.view.place.clone().number("line", self.line_of(range.start));
        let counted = self.told.get(&*rule.id).map_or(0, |(_, told)| *told);
        let finding = || {
            let finding = Finding::built_in(rule).severity(severity).place(place.clone());
            let finding = if message.is_empty() { finding } else { finding.message(message) };
            match self.view.map.as_ref().map(|map| map.span(count(range.start), count(range.end))) {
                Some(span) => finding.at(span.start, span.end),
                None => finding,
            }
        };
        if counted < LISTED {
            let mut finding = finding();
            finding.decoded.clone_from(&self.view.decoded);
            out.find(finding);
        }
        match self.told.get_mut(&*rule.id) {
            Some((worst, told)) => {
                *told = told.saturating_add(1);
                if worst.severity < severity {
                    *worst = finding();
                }
            }
            None => {
                let id = match &rule.id {
                    std::borrow::Cow::Borrowed(id) => *id,
                    std::borrow::Cow::Owned(_) => "",
                };
                let finding = finding();
                self.told.insert(id, (finding, 1));
            }
        }
    }

    /// The line of an offset. They mostly come in order.
    fn line_of(&mut self, at: usize) -> u64 {
        let (line, from) = if at < self.line.1 { (1, 0) } else { self.line };
        let passed = self.view.text.get(from..at).unwrap_or_default();
        self.line = (line.saturating_add(count(memchr_iter(b'\n', passed).count())), at);
        self.line.0
    }

    /// Tells what was counted and not listed.
    pub(in crate::format) fn finish(&mut self, out: &mut Out<'_>) {
        for (finding, told) in std::mem::take(&mut self.told).into_values() {
            if let Some(more) = told.checked_sub(LISTED).filter(|more| *more > 0) {
                let title = finding.rule.title.clone();
                out.find(finding.message(format!("{more} more: {title}")));
            }
        }
    }

    /// Judges one start tag.
    pub(in crate::format) fn element(
        &mut self,
        element: &Element<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let at = || element.whole.clone();
        self.data(element, out);
        for property in &element.properties {
            self.property(element, property, out, budget)?;
        }
        match &*element.name {
            b"script" if is_run(element) && element.value(b"src").or(element.value(b"href")).is_none() => {
                self.tell(&rules::SCRIPT, at(), "", out);
            }
            b"handler" | b"listener" if element.properties.iter().any(|property| property.name.ends_with(b"event")) => {
                self.tell(&rules::SCRIPT, at(), "an element that runs script upon an event", out);
            }
            b"foreignobject" => self.tell(&rules::FOREIGN_OBJECT, at(), "", out),
            b"form" if element.value(b"action").is_none() => {
                self.tell_as(&rules::FORM, Severity::Low, at(), "a form without an address", out);
            }
            b"meta" => self.meta(element, out),
            _ => {}
        }
        Ok(())
    }

    /// Judges a start tag that is data with brackets: only what is wrong in any markup.
    pub(in crate::format) fn data(&mut self, element: &Element<'_>, out: &mut Out<'_>) {
        if element.attributes > ATTRIBUTES_MOST {
            let message = format!("one element has {} attributes", element.attributes);
            self.tell(&rules::ATTRIBUTES, element.whole.clone(), &message, out);
        }
        if self.view.text.get(element.whole.clone()).is_some_and(|tag| memchr(0, tag).is_some()) {
            self.tell(&rules::NUL, element.whole.clone(), "", out);
        }
    }

    fn property(
        &mut self,
        element: &Element<'_>,
        property: &Property<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let at = || element.whole.clone();
        let value = &*property.value;
        if property.is_handler() {
            self.tell(&rules::HANDLER, at(), "", out);
            return Ok(());
        }
        if memchr(b'<', value).is_some() && property.name != b"srcdoc" && acts(value) {
            self.tell(&rules::BURIED, at(), "an attribute holds active markup", out);
        }
        match &*property.name {
            b"style" => return self.style(value, at(), out, budget),
            b"srcdoc" => {
                self.tell(&rules::FRAME, at(), "a frame with a document of its own", out);
                out.child(Source::stored(Bytes::copy_from_slice(value)), Some("srcdoc".to_owned()));
                return Ok(());
            }
            // An animation that makes a handler, or an address, of what it is given.
            b"attributename" if is_handler(&value.trim_ascii().to_ascii_lowercase()) => {
                self.tell(&rules::HANDLER, at(), "an animation that sets an event handler", out);
            }
            b"fill" | b"stroke" | b"mask" | b"clip-path" | b"filter" | b"cursor" | b"marker-start" | b"marker-end"
            | b"marker-mid"
                if memmem::find(value, b"(").is_some() =>
            {
                return self.style(value, at(), out, budget);
            }
            _ => {}
        }
        if !property.is_quoted && has_slashed_handler(value) {
            self.tell(&rules::HANDLER, at(), "an event handler behind a slash, which some programs read as one", out);
        }
        match purpose(element, &property.name) {
            Some(Purpose::Maybe) if matches!(&*property.name, b"values" | b"to" | b"from" | b"by") => {
                for part in value.split(|byte| *byte == b';') {
                    let moves = element.value(b"attributename").is_some_and(|name| {
                        super::element::local(name.trim_ascii()).eq_ignore_ascii_case(b"href")
                    });
                    self.address(element, if moves { Purpose::Part } else { Purpose::Maybe }, part, out, budget)?;
                }
                Ok(())
            }
            Some(purpose) if matches!(&*property.name, b"srcset" | b"imagesrcset") => {
                // Commas stand in data URLs too; a candidate begins behind a comma and white space, or at the start.
                for part in value.split(|byte| *byte == b',') {
                    if Address::of(part) == Address::Elsewhere {
                        self.address(element, purpose, part.trim_ascii(), out, budget)?;
                    }
                }
                self.address(element, Purpose::Maybe, value, out, budget)
            }
            Some(purpose) => self.address(element, purpose, value, out, budget),
            None => Ok(()),
        }
    }

    fn address(
        &mut self,
        element: &Element<'_>,
        purpose: Purpose,
        value: &[u8],
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let at = || element.whole.clone();
        let address = Address::of(value);
        let is_said = !value.trim_ascii().is_empty();
        match purpose {
            // A frame of nothing waits for a script.
            Purpose::Frame if is_said && !matches!(address, Address::Other) => {
                self.tell(&rules::FRAME, at(), "", out);
            }
            Purpose::Object if is_said => self.tell(&rules::OBJECT, at(), "", out),
            Purpose::Script if is_run(element) => self.tell(&rules::SCRIPT, at(), "", out),
            Purpose::Submit => match address {
                Address::Elsewhere => self.tell(&rules::FORM, at(), "", out),
                Address::Here => {
                    self.tell_as(&rules::FORM, Severity::Low, at(), "a form that sends beside the page", out);
                }
                _ => {}
            },
            Purpose::Base if is_said => {
                let severity = if address == Address::Here { Severity::Low } else { Severity::Medium };
                self.tell_as(&rules::BASE, severity, at(), "", out);
            }
            _ => {}
        }
        match address {
            Address::Script => self.tell(&rules::SCRIPT_URL, at(), "", out),
            Address::ActiveData => {
                // A picture in a page is drawn without its scripts.
                if !matches!(purpose, Purpose::Load) {
                    self.tell(&rules::SCRIPT_URL, at(), "a document in an address", out);
                }
                self.carry(value, out, budget)?;
            }
            Address::Data => self.carry(value, out, budget)?,
            Address::Program => {
                let severity = if purpose == Purpose::Link { Severity::Medium } else { Severity::High };
                self.tell_as(&rules::PROTOCOL, severity, at(), "", out);
            }
            Address::Elsewhere => match purpose {
                Purpose::Link => self.tell(&rules::LINK, at(), "", out),
                Purpose::Maybe => {}
                _ => self.tell(&rules::EXTERNAL, at(), "", out),
            },
            Address::Here | Address::Other => {}
        }
        Ok(())
    }

    /// The content of a data URL is looked at like a file, once however often it is there.
    fn carry(&mut self, value: &[u8], out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        if value.len() < CARRIED_LEAST || !self.carried.insert(sha256_hex(value)) {
            return Ok(());
        }
        if let Some(carried) = encoded::data_url(value, budget)? {
            let name = format!("data {}", self.carried.len());
            out.child(Source::stored(carried.bytes), Some(name));
        }
        Ok(())
    }

    fn meta(&mut self, element: &Element<'_>, out: &mut Out<'_>) {
        let at = || element.whole.clone();
        let content = element.value(b"content").unwrap_or_default();
        let lower = content.to_ascii_lowercase();
        let equivalent = element.value(b"http-equiv").unwrap_or_default().trim_ascii();
        if equivalent.eq_ignore_ascii_case(b"refresh") {
            let behind = memchr(b';', content).or_else(|| memchr(b',', content));
            let address = behind.and_then(|at| content.get(at.saturating_add(1)..)).unwrap_or_default().trim_ascii();
            let address = memmem::find(&address.to_ascii_lowercase(), b"url")
                .filter(|at| *at == 0)
                .and_then(|_| address.get(3..)?.trim_ascii_start().strip_prefix(b"="))
                .unwrap_or(address)
                .trim_ascii();
            let address = address.strip_prefix(b"'").or_else(|| address.strip_prefix(b"\"")).unwrap_or(address);
            match Address::of(address) {
                Address::Here => {
                    self.tell_as(&rules::META, Severity::Low, at(), "goes on to something beside the page", out);
                }
                Address::Program => self.tell_as(&rules::PROTOCOL, Severity::High, at(), "", out),
                kind => {
                    self.tell(&rules::META, at(), "", out);
                    if kind.runs() {
                        self.tell(&rules::SCRIPT_URL, at(), "", out);
                    }
                }
            }
        }
        let charset = element.value(b"charset").map(<[u8]>::to_ascii_lowercase).or_else(|| {
            memmem::find(&lower, b"charset=").and_then(|at| lower.get(at.saturating_add(8)..)).map(<[u8]>::to_vec)
        });
        if charset.is_some_and(|charset| is_shifting(&charset)) {
            self.tell(&rules::CHARSET, at(), "", out);
        }
    }

    /// Judges a style: of an attribute or an element.
    pub(in crate::format) fn style(
        &mut self,
        style: &[u8],
        at: Range<usize>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        if memchr(b'(', style).is_none() && memchr(b'@', style).is_none() && memchr(b'\\', style).is_none() {
            return Ok(());
        }
        let acts = css::acts(style);
        if acts.runs {
            self.tell(&rules::STYLE, at.clone(), "", out);
        }
        if acts.spies {
            self.tell(&rules::STYLE, at.clone(), "a style that loads by what the page holds", out);
        }
        if acts.loads {
            self.tell(&rules::EXTERNAL, at, "a style loads from another machine", out);
        }
        for carried in acts.carried {
            self.carry(&carried, out, budget)?;
        }
        Ok(())
    }

    /// Judges the body of a script that runs.
    pub(in crate::format) fn script(&mut self, body: &[u8], at: Range<usize>, out: &mut Out<'_>) {
        let signs = script::signs(body);
        if signs.smuggles {
            let severity = if signs.carries_program { Severity::High } else { Severity::Medium };
            self.tell_as(&rules::SMUGGLING, severity, at.clone(), "", out);
        }
        if signs.fetches {
            self.tell(&rules::EXTERNAL, at, "a script fetches from another machine", out);
        }
    }
}

/// Encodings in which letters are shifted to other meanings.
pub(in crate::format) fn is_shifting(charset: &[u8]) -> bool {
    let charset = charset.trim_ascii();
    let charset = charset.strip_prefix(b"\"").or_else(|| charset.strip_prefix(b"'")).unwrap_or(charset);
    [&b"utf-7"[..], b"utf7", b"unicode-1-1-utf-7", b"csunicode11utf7", b"iso-2022", b"csiso2022", b"hz-gb", b"utf-32"]
        .iter()
        .any(|name| charset.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)))
}

/// Whether a script element is run, and not a block of data for others.
pub(in crate::format) fn is_run(element: &Element<'_>) -> bool {
    let kind = element.value(b"type").unwrap_or_default().trim_ascii().to_ascii_lowercase();
    let has = |word: &str| memmem::find(&kind, word.as_bytes()).is_some();
    kind.is_empty()
        || matches!(&*kind, b"module" | b"importmap" | b"importmap-shim" | b"module-shim" | b"speculationrules")
        || ["javascript", "ecmascript", "jscript", "vbscript", "babel", "jsx", "livescript"].iter().any(|word| has(word))
}

/// `src=x/onerror=…`: one value to a browser, an attribute more to some other programs.
fn has_slashed_handler(value: &[u8]) -> bool {
    memmem::find_iter(value, b"/on").any(|at| {
        let name = value.get(at.saturating_add(1)..).unwrap_or_default();
        let length = name.iter().take(32).take_while(|byte| byte.is_ascii_alphabetic()).count();
        name.get(length) == Some(&b'=') && is_handler(&name.get(..length).unwrap_or_default().to_ascii_lowercase())
    })
}

/// What an attribute of that element is for, if it holds an address.
fn purpose(element: &Element<'_>, name: &[u8]) -> Option<Purpose> {
    let is = |names: &[&[u8]]| element.is(names);
    Some(match name {
        b"src" if is(&[b"script"]) => Purpose::Script,
        b"src" if is(&[b"iframe", b"frame", b"portal", b"fencedframe"]) => Purpose::Frame,
        b"src" if is(&[b"embed", b"xml", b"layer", b"ilayer"]) => Purpose::Object,
        b"src" if is(&[b"img", b"image", b"video", b"audio", b"source", b"track", b"input", b"bgsound"]) => Purpose::Load,
        b"srcset" | b"imagesrcset" | b"poster" | b"background" | b"lowsrc" | b"dynsrc" => Purpose::Load,
        b"manifest" if is(&[b"html"]) => Purpose::Load,
        b"data" if is(&[b"object"]) => Purpose::Object,
        b"code" | b"archive" | b"classid" | b"codebase" if is(&[b"applet", b"object", b"embed"]) => Purpose::Object,
        b"href" if is(&[b"a", b"area"]) => Purpose::Link,
        b"href" if is(&[b"base"]) => Purpose::Base,
        b"href" if is(&[b"script"]) => Purpose::Script,
        b"href" if is(&[b"link"]) => relation(element),
        b"href" if is(&[b"image", b"feimage"]) => Purpose::Load,
        b"href"
            if is(&[
                b"use", b"pattern", b"lineargradient", b"radialgradient", b"filter", b"tref", b"textpath", b"mpath", b"cursor",
                b"color-profile", b"font-face-uri", b"glyphref", b"altglyph", b"set", b"animate", b"animatemotion",
            ]) =>
        {
            Purpose::Part
        }
        b"action" if is(&[b"form", b"isindex"]) => Purpose::Submit,
        b"formaction" => Purpose::Submit,
        b"ping" => Purpose::Link,
        _ if matches!(
            name,
            b"src" | b"href" | b"action" | b"data" | b"to" | b"from" | b"by" | b"values" | b"folder" | b"value" | b"url"
        ) =>
        {
            Purpose::Maybe
        }
        _ => return None,
    })
}

/// A link element: what its relation makes a browser do.
fn relation(element: &Element<'_>) -> Purpose {
    const LOADED: [&[u8]; 15] = [
        b"stylesheet", b"preload", b"prefetch", b"modulepreload", b"icon", b"apple-touch-icon", b"mask-icon", b"manifest",
        b"dns-prefetch", b"preconnect", b"prerender", b"subresource", b"import", b"fluid-icon", b"apple-touch-startup-image",
    ];
    let relation = element.value(b"rel").unwrap_or_default().to_ascii_lowercase();
    let mut words = relation.split(u8::is_ascii_whitespace);
    match words.find(|word| LOADED.contains(word)) {
        Some(b"import") => Purpose::Script,
        Some(_) => Purpose::Part,
        None => Purpose::Link,
    }
}
