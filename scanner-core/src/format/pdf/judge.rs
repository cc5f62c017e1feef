//! One judge over all objects, reachable or not, of every revision: what acts, what reaches outside, what is attached.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    document::Document,
    file::Item,
    notes::Notes,
    object::{Dict, Object},
    rules, strings,
};
use crate::{
    finding::{Severity, Stop},
    limits::{Budget, Resource},
    reader::count,
};

/// Schemes that carry content of their own or run it.
const SCRIPTED: &[&str] = &["javascript", "data", "vbscript", "jscript", "livescript", "blob", "view-source"];
/// Schemes that start programs of the system with the rest of the address (seen in attacks: search-ms, ms-msdt).
const HANDLERS: &[&str] = &["search-ms", "search", "ms-", "shell", "mk", "ldap", "vscode", "jar", "res", "hcp"];
/// Trees in which every way down must end.
const DOWNWARD: &[&[u8]] = &[b"Kids", b"First", b"Next", b"Extends", b"Length"];
/// File specifications of one dictionary that are followed.
const MOST_SPECIFICATIONS: u32 = 4;
/// Ways through a tree that no honest document has.
const MOST_PATHS: u64 = 1_000_000;

/// What the judge noted for those who come after.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Attached streams by position, with the name each has.
    pub(super) attached: BTreeMap<usize, Option<String>>,
    /// Streams of script, XML forms and metadata, by position: their text is read.
    pub(super) texts: BTreeSet<usize>,
}

struct Judge<'d, 'a, 'n> {
    document: &'d Document<'a>,
    notes: &'n mut Notes,
    judged: Judged,
    links: u64,
    first_link: usize,
    /// Actions and tables of them that run by themselves.
    automatic: Vec<(usize, &'d Object<'a>, Trigger)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trigger {
    Action,
    Table,
}

/// Looks at everything.
pub(super) fn judge(document: &Document<'_>, notes: &mut Notes, budget: &mut Budget) -> Result<Judged, Stop> {
    let mut judge =
        Judge { document, notes, judged: Judged::default(), links: 0, first_link: 0, automatic: Vec::new() };
    let mut waiting = Vec::new();
    for (index, item) in document.items.iter().enumerate() {
        budget.spend(Resource::Steps, 10)?;
        judge.item(index, item);
        waiting.push(&item.object);
        while let Some(value) = waiting.pop() {
            match value {
                Object::Array(values) => waiting.extend(values.iter().filter(|value| is_container(value))),
                Object::Dict(dict) => {
                    budget.spend(Resource::Steps, 10)?;
                    judge.dict(index, item, dict);
                    waiting.extend(dict.entries.iter().map(|(_, value)| value).filter(|value| is_container(value)));
                }
                _ => {}
            }
        }
    }
    judge.automatic(budget)?;
    if judge.links > 0 {
        let at = judge.first_link;
        judge.notes.add(&rules::LINK, at..at, format!("the document has {} links", judge.links));
    }
    let judged = judge.judged;
    trees(document, notes, budget)?;
    Ok(judged)
}

const fn is_container(value: &Object<'_>) -> bool {
    matches!(value, Object::Array(_) | Object::Dict(_))
}

impl<'d, 'a> Judge<'d, 'a, '_> {
    fn item(&mut self, index: usize, item: &'d Item<'a>) {
        let (Some(dict), Some(_)) = (item.dict(), &item.stream) else { return };
        if dict.is("Type", "EmbeddedFile") {
            self.judged.attached.entry(index).or_insert(None);
        }
        if dict.is("Type", "Metadata") {
            self.judged.texts.insert(index);
        }
        if matches!(dict.get("Length"), Some(length @ Object::Ref(_)) if self.document.resolve(length).int().is_none())
        {
            self.notes.add(&rules::STRUCTURE, item.at..item.end, "the length of a stream is no number");
        }
        if dict.has("F") {
            self.notes.add(&rules::EXTERNAL, item.at..item.end, "the content of a stream is in another file");
        }
    }

    fn dict(&mut self, index: usize, item: &'d Item<'a>, dict: &'d Dict<'a>) {
        let document = self.document;
        let span = || item.at..item.end;
        // Looked up once: a key may stand there a thousand times.
        let mut is_structure = None;
        let mut files = 0_u32;
        let mut is_script = false;
        for (key, value) in &dict.entries {
            match &**key {
                b"S" => {
                    // A structure element has a kind of the same key, of its writer's choosing.
                    let is_structure = *is_structure
                        .get_or_insert_with(|| dict.has("K") && dict.has("P") || dict.is("Type", "StructElem"));
                    let kind = document.resolve(value).name().unwrap_or_default();
                    is_script |= kind == b"JavaScript" && !is_structure;
                    if !is_structure {
                        self.action(item, kind);
                    }
                }
                b"Subtype" => {
                    let media = match document.resolve(value).name() {
                        Some(b"RichMedia") => "an annotation plays rich media",
                        Some(b"3D") => "an annotation shows a 3D model",
                        Some(b"Movie") => "an annotation plays a film",
                        Some(b"Sound") => "an annotation plays a sound",
                        Some(b"Screen") => "an annotation plays media",
                        _ => continue,
                    };
                    self.notes.add(&rules::RICH_MEDIA, span(), media);
                }
                b"JS" => is_script |= self.script(value),
                b"OpenAction" => self.automatic.push((index, value, Trigger::Action)),
                b"AA" => self.automatic.push((index, value, Trigger::Table)),
                b"FS" if document.resolve(value).name() == Some(b"URL") => {
                    self.notes.add(&rules::EXTERNAL, span(), "the document names a file on the web");
                }
                b"XFA" => self.form(item, value),
                b"EF" if files < MOST_SPECIFICATIONS => {
                    files = files.saturating_add(1);
                    self.attachment(item, dict, value);
                }
                b"URI" | b"Base" => {
                    if let Some(address) = document.string(item, document.resolve(value)) {
                        self.address(item, &strings::decode(&address));
                    }
                }
                b"F" | b"UF" | b"DOS" | b"Unix" | b"Mac" => {
                    if let Some(name) = document.string(item, document.resolve(value)) {
                        self.file_name(item, &strings::decode(&name));
                    }
                }
                _ => {}
            }
        }
        if is_script {
            self.notes.add(&rules::SCRIPT, span(), "an action runs JavaScript");
        }
    }

    fn action(&mut self, item: &Item<'_>, kind: &[u8]) {
        let (rule, severity, message) = match kind {
            b"EnableJavaScripts" => (&rules::SCRIPT, Severity::Medium, "the document asks for JavaScript"),
            b"Launch" => (&rules::LAUNCH, Severity::High, "an action starts a program or opens a file"),
            b"SubmitForm" => (&rules::SUBMIT, Severity::Medium, "an action sends the form away"),
            b"ImportData" => (&rules::EXTERNAL, Severity::Medium, "an action reads data from another file"),
            b"GoToR" => (&rules::EXTERNAL, Severity::Low, "an action opens another document"),
            b"GoToE" => (&rules::EXTERNAL, Severity::Low, "an action opens an attached document"),
            b"Movie" | b"Sound" | b"Rendition" | b"GoTo3DView" | b"RichMediaExecute" => {
                (&rules::RICH_MEDIA, Severity::Medium, "an action plays something")
            }
            _ => return,
        };
        self.notes.add_as(rule, severity, item.at..item.end, message);
    }

    /// Whether the value of a key for scripts is one: a string or a stream.
    fn script(&mut self, value: &Object<'a>) -> bool {
        let target = self.document.target(value);
        let stream = target.and_then(|index| Some((index, self.document.item(index)?)));
        let Some((index, target)) = stream.filter(|(_, target)| target.stream.is_some()) else {
            return self.document.resolve(value).is_string();
        };
        // A resource may have any name, this one too.
        if target.dict().is_some_and(|target| target.is("Subtype", "Image") || target.is("Subtype", "Form")) {
            return false;
        }
        self.judged.texts.insert(index);
        true
    }

    /// A form in XML: one stream, or names and streams in turn.
    fn form(&mut self, item: &Item<'_>, value: &Object<'a>) {
        let resolved = self.document.resolve(value);
        if *resolved == Object::Null {
            return;
        }
        self.notes.add(&rules::XFA, item.at..item.end, "the document carries a form in XML");
        let several = resolved.array().unwrap_or_default();
        let streams: Vec<usize> =
            several.iter().chain([value]).filter_map(|value| self.document.target(value)).collect();
        self.judged.texts.extend(streams);
    }

    /// The streams of a file specification, with its name.
    fn attachment(&mut self, item: &Item<'_>, dict: &'d Dict<'a>, value: &'d Object<'a>) {
        let document = self.document;
        let name = ["UF", "F", "Unix", "DOS", "Mac"]
            .into_iter()
            .find_map(|key| document.string(item, document.get(dict, key)))
            .map(|name| strings::decode(&name).into_owned());
        let Some(streams) = document.resolve(value).dict() else { return };
        for (_, stream) in &streams.entries {
            let Some(index) = document.target(stream) else { continue };
            let known = self.judged.attached.entry(index).or_insert(None);
            if known.is_none() {
                known.clone_from(&name);
            }
        }
    }

    fn address(&mut self, item: &Item<'_>, address: &str) {
        let span = item.at..item.end;
        // As browsers read it: blanks and line ends do not count.
        let bare: String = address
            .chars()
            .filter(|character| !character.is_ascii_control() && *character != ' ')
            .take(64)
            .collect::<String>()
            .to_ascii_lowercase();
        let scheme = bare.split_once(':').map_or("", |(scheme, _)| scheme);
        if SCRIPTED.contains(&scheme) {
            self.notes.add(&rules::SCHEME, span, "a link is a script or carries content of its own");
        } else if HANDLERS
            .iter()
            .any(|handler| scheme == *handler || handler.ends_with('-') && scheme.starts_with(handler))
        {
            self.notes.add(&rules::PROTOCOL, span, "a link calls a handler of the system");
        } else if scheme == "file" || is_share(&bare) {
            self.notes.add(&rules::EXTERNAL, span, "a link leads to a file or a share");
        } else {
            if self.links == 0 {
                self.first_link = item.at;
            }
            self.links = self.links.saturating_add(1);
        }
    }

    fn file_name(&mut self, item: &Item<'_>, name: &str) {
        let span = item.at..item.end;
        if is_share(name) || name.to_ascii_lowercase().starts_with("file:") {
            self.notes.add(&rules::EXTERNAL, span, "the document names a share of another computer");
        }
    }

    /// Follows what runs by itself: from an action to the next, from a table to its actions.
    fn automatic(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let mut seen: BTreeSet<(usize, Trigger)> = BTreeSet::new();
        while let Some((index, value, trigger)) = self.automatic.pop() {
            budget.spend(Resource::Steps, 10)?;
            let target = document.target(value);
            if target.is_some_and(|target| !seen.insert((target, trigger))) {
                continue;
            }
            let (index, value) = (target.unwrap_or(index), document.resolve(value));
            let Some(item) = document.item(index) else { continue };
            match (value, trigger) {
                (Object::Dict(table), Trigger::Table) => {
                    self.automatic.extend(table.entries.iter().map(|(_, action)| (index, action, Trigger::Action)));
                }
                (Object::Dict(action), Trigger::Action) => {
                    let message = match document.get(action, "S").name() {
                        Some(b"URI") => "a link is followed without a click",
                        Some(b"GoToR") => "another document is opened without a click",
                        Some(b"GoToE") => "an attached document is opened without a click",
                        Some(b"SubmitForm") => "a form is sent without a click",
                        Some(b"ImportData") => "data are read from another file without a click",
                        _ => "",
                    };
                    if !message.is_empty() {
                        self.notes.add(&rules::AUTO_OPEN, item.at..item.end, message);
                    }
                    self.automatic.extend(action.get("Next").map(|next| (index, next, Trigger::Action)));
                }
                // Several actions in a row. A destination is an array too: its page has no action of its own.
                (Object::Array(actions), Trigger::Action) if trigger == Trigger::Action => {
                    let actions = actions.iter().filter(|action| {
                        document.resolve(action).dict().is_some_and(|action| action.has("S") && !action.has("Parent"))
                    });
                    self.automatic.extend(actions.map(|action| (index, action, Trigger::Action)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A name of another computer: two slashes of either kind.
fn is_share(name: &str) -> bool {
    let mut start = name.bytes();
    matches!((start.next(), start.next()), (Some(b'\\' | b'/'), Some(b'\\' | b'/')))
}

/// Trees that lead back to themselves, and trees that unfold without end because branches are shared.
fn trees(document: &Document<'_>, notes: &mut Notes, budget: &mut Budget) -> Result<(), Stop> {
    let mut edges: Vec<(usize, usize, bool)> = Vec::new();
    for (from, item) in document.items.iter().enumerate() {
        let downward = item.dict().into_iter().flat_map(|dict| &dict.entries);
        for (key, value) in downward.filter(|(key, _)| DOWNWARD.contains(&&**key)) {
            let is_kid = **key == *b"Kids";
            let several = value.array().unwrap_or(std::slice::from_ref(value));
            budget.spend(Resource::Steps, count(several.len()).saturating_mul(10))?;
            edges.extend(several.iter().filter_map(|value| Some((from, document.target(value)?, is_kid))));
        }
        // A list of its own, which many may share: the way leads through it.
        let list = item.object.array().unwrap_or_default();
        budget.spend(Resource::Steps, count(list.len()).saturating_mul(10))?;
        edges.extend(list.iter().filter_map(|value| Some((from, document.target(value)?, true))));
    }
    // Where the edges of each object begin.
    let starts = |from: usize| edges.partition_point(|(known, ..)| *known < from);
    let mut paths: Vec<u64> = vec![0; document.items.len()];
    let mut is_open = vec![false; document.items.len()];
    for root in 0..document.items.len() {
        let mut stack = vec![(root, starts(root))];
        if paths.get(root) != Some(&0) {
            continue;
        }
        is_open.get_mut(root).into_iter().for_each(|open| *open = true);
        while let Some((node, edge)) = stack.last_mut() {
            budget.spend(Resource::Steps, 5)?;
            let node = *node;
            match edges.get(*edge).filter(|(from, ..)| *from == node) {
                Some((_, to, _)) => {
                    let to = *to;
                    *edge = edge.saturating_add(1);
                    if is_open.get(to) == Some(&true) {
                        let span = document.item(to).map_or(0..0, |item| item.at..item.end);
                        notes.add(&rules::LOOP, span, "objects lead back to themselves");
                    } else if paths.get(to) == Some(&0) {
                        is_open.get_mut(to).into_iter().for_each(|open| *open = true);
                        stack.push((to, starts(to)));
                    }
                }
                None => {
                    let mut ways = 0_u64;
                    let own = edges.get(starts(node)..).unwrap_or_default();
                    for (_, to, _) in own.iter().take_while(|(from, ..)| *from == node).filter(|(.., kid)| *kid) {
                        ways = ways.saturating_add(paths.get(*to).copied().unwrap_or(0));
                    }
                    let ways = ways.max(1);
                    if ways > MOST_PATHS {
                        let span = document.item(node).map_or(0..0, |item| item.at..item.end);
                        notes.add(&rules::EXPANSION, span, "a tree shares its branches until it has no end");
                    }
                    paths.get_mut(node).into_iter().for_each(|paths| *paths = ways);
                    is_open.get_mut(node).into_iter().for_each(|open| *open = false);
                    stack.pop();
                }
            }
        }
    }
    Ok(())
}
