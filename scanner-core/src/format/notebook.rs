//! Notebooks: every cell, output, attachment and widget, each read as what it is shown as.

use bytes::Bytes;
use memchr::memmem;

use super::{
    html, markdown,
    markup::{address::Address, element::acts},
    svg,
};
use crate::{
    bundle::Source,
    envelope::encoded,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject, text},
    json::{Doc, Kind, NodeId, Quirk},
    limits::{Budget, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

mod filtered;
#[cfg(test)]
mod tests;

pub(crate) const FORMAT: Format = Format {
    name: "notebook",
    labels: &["ipynb"],
    inspect,
    clean: Some(filtered::clean),
    rules: &[&ACTIVE, &SHELL, &super::json::DUPLICATE],
};

static ACTIVE: Rule = Rule::built_in(
    "notebook/active-output",
    "script.notebook",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A cell or an output that runs script when the notebook is shown",
        why: "Opened as a trusted notebook, or put on a page, the script runs with the rights of the reader and of the running kernel.",
        remedy: "Clear the outputs, or show the notebook where scripts are taken out.",
    },
);

static SHELL: Rule = Rule::built_in(
    "notebook/shell",
    "script.shell",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A cell that fetches something and runs it",
        why: "Running the notebook hands the machine over to whatever the address answers on that day.",
        remedy: "Read the cell before the notebook is run.",
    },
);

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    if text::is_wide(subject.bytes) {
        return text::inspect(subject, out, budget);
    }
    let doc = Doc::parse(subject.bytes, budget);
    if let Some((times, at)) = doc.quirks.of(Quirk::DuplicateKey) {
        let finding = Finding::built_in(&super::json::DUPLICATE).at(at, at.saturating_add(1));
        out.find(finding.message(format!("{times} keys stand twice in their object")));
    }
    let mut notebook = Notebook { doc: &doc, claimed: vec![false; doc.len()] };
    let read = notebook.read(out, budget);
    let rest = notebook.rest(out, budget);
    // What a cut notebook holds is read; that it is cut is a gap.
    read.and(rest).and(doc.stop.clone().map_or(Ok(()), Err))
}

/// Where in the notebook something is.
#[derive(Clone, Copy, Debug)]
struct At {
    cell: u64,
    output: u64,
}

impl At {
    fn place(self) -> Place {
        let place = Place::default().number("cell", self.cell);
        if self.output > 0 { place.number("output", self.output) } else { place }
    }
}

/// One notebook.
struct Notebook<'a> {
    doc: &'a Doc,
    /// Values that were read as what they are.
    claimed: Vec<bool>,
}

impl Notebook<'_> {
    fn get(&self, object: NodeId, key: &str) -> Option<NodeId> {
        // The last of a name counts for those who load it; any may count for others, and the rest is read too.
        self.doc.children(object).filter(|id| self.doc.has_key(*id, key)).last()
    }

    fn read(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let Some(root) = self.doc.root() else { return Ok(()) };
        // Version 3 has sheets of cells.
        let mut lists: Vec<NodeId> = self.get(root, "cells").into_iter().collect();
        if let Some(sheets) = self.get(root, "worksheets") {
            lists.extend(self.doc.children(sheets).filter_map(|sheet| self.get(sheet, "cells")));
        }
        let mut number = 0_u64;
        for list in lists {
            let cells: Vec<NodeId> = self.doc.children(list).collect();
            for cell in cells {
                number = number.saturating_add(1);
                self.cell(cell, number, out, budget)?;
            }
        }
        if let Some(widgets) = self.get(root, "metadata").and_then(|metadata| self.get(metadata, "widgets")) {
            self.search(widgets, "a widget's state holds active markup", Place::default().name("part", "widgets"), out);
        }
        Ok(())
    }

    fn cell(&mut self, cell: NodeId, number: u64, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let at = At { cell: number, output: 0 };
        let kind = self.get(cell, "cell_type").and_then(|id| self.doc.word(id)).unwrap_or_default().into_owned();
        for key in ["source", "input"] {
            let Some(source) = self.get(cell, key).and_then(|id| self.text(id, budget).transpose()).transpose()? else {
                continue;
            };
            let source = source.place(at.place());
            match &*kind {
                "code" => {
                    if fetches_and_runs(&source.text) {
                        out.find(placed(Finding::built_in(&SHELL), &source));
                    }
                    // Code that makes markup is no markup yet.
                    out.read(source.judged());
                }
                "markdown" | "heading" => {
                    if markdown::read(&source, out, budget)? {
                        active("a cell holds active markup", at.place(), &source, out);
                    }
                }
                _ => {
                    if acts(&source.text) {
                        active("a raw cell holds active markup", at.place(), &source, out);
                    }
                    out.read(source.judged());
                }
            }
        }
        let outputs: Vec<NodeId> =
            self.get(cell, "outputs").map(|list| self.doc.children(list).collect()).unwrap_or_default();
        for (output, index) in outputs.into_iter().zip(1_u64..) {
            self.output(output, At { cell: number, output: index }, out, budget)?;
        }
        let attachments: Vec<NodeId> =
            self.get(cell, "attachments").map(|files| self.doc.children(files).collect()).unwrap_or_default();
        for file in attachments {
            let name = self.doc.key(file).map(|name| name.into_owned());
            let values: Vec<NodeId> = self.doc.children(file).collect();
            for value in values {
                self.packed(value, at, name.clone(), out, budget)?;
            }
        }
        Ok(())
    }

    fn output(&mut self, output: NodeId, at: At, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        for key in ["text", "evalue", "traceback"] {
            let text = self.get(output, key).and_then(|id| self.text(id, budget).transpose()).transpose()?;
            // Shown as text, with its colours.
            out.texts.extend(text.map(|text| text.place(at.place()).judged()));
        }
        let bundle: Vec<NodeId> =
            self.get(output, "data").map(|bundle| self.doc.children(bundle).collect()).unwrap_or_default();
        for value in bundle {
            let mime = self.doc.key(value).unwrap_or_default().to_ascii_lowercase();
            self.value(value, &mime, at, out, budget)?;
        }
        // Version 3 has its forms beside each other, by short names.
        for (key, mime) in SHORT_NAMES {
            if let Some(value) = self.get(output, key) {
                self.value(value, mime, at, out, budget)?;
            }
        }
        Ok(())
    }

    /// One form of an output.
    fn value(&mut self, value: NodeId, mime: &str, at: At, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let is_text = matches!(mime, "image/svg+xml" | "text/html" | "text/markdown" | "text/latex" | "text/plain")
            || mime.contains("javascript")
            || mime.contains("xhtml");
        if !is_text
            && (mime.starts_with("image/")
                || mime.starts_with("audio/")
                || mime.starts_with("video/")
                || mime == "application/pdf")
        {
            return self.packed(value, at, None, out, budget);
        }
        // What the viewer of another kind of value does with its strings is not known; markup in them is told.
        if !is_text {
            if mime.contains("bokehjs") {
                self.tell(value, "an output that is a script", at.place(), out);
            }
            self.search(value, "an output's data holds active markup", at.place(), out);
            return Ok(());
        }
        let Some(text) = self.text(value, budget)? else { return Ok(()) };
        let text = text.place(at.place());
        match mime {
            "text/html" | "application/xhtml+xml" => {
                let is_active = acts(&text.text);
                html::read(&text, out, budget)?;
                if is_active {
                    active("an output of HTML runs script", at.place(), &text, out);
                }
            }
            // A drawing that is carried as other pictures are.
            "image/svg+xml" if memchr::memchr(b'<', &text.text).is_none() => {
                return self.packed(value, at, None, out, budget);
            }
            "image/svg+xml" => {
                let is_active = acts(&text.text);
                svg::read(&text, out, budget)?;
                if is_active {
                    active("a picture of an output runs script", at.place(), &text, out);
                }
            }
            "text/markdown" => {
                if markdown::read(&text, out, budget)? {
                    active("an output of Markdown runs script", at.place(), &text, out);
                }
            }
            "text/latex" => {
                if links_to_script(&text.text) {
                    active("a formula links to script", at.place(), &text, out);
                }
                out.read(text.judged());
            }
            "text/plain" => out.read(text.judged()),
            _ => {
                active("an output that is a script", at.place(), &text, out);
                out.read(text.judged());
            }
        }
        Ok(())
    }

    /// A value in base64 or plain text that is a file: looked at when its turn comes.
    fn packed(
        &mut self,
        value: NodeId,
        at: At,
        name: Option<String>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let Some(text) = self.text(value, budget)? else { return Ok(()) };
        let packed = encoded::base64(&text.text, budget)?;
        let bytes = packed.map_or_else(|| text.text.clone(), |carried| carried.bytes);
        if acts(&bytes) && bytes.first().is_some_and(|byte| matches!(byte, b'<' | b' ' | b'\n' | 0xef)) {
            active("an attached file runs script", at.place(), &text, out);
        }
        if !bytes.is_empty() {
            let words = if at.output > 0 {
                format!("cell {} output {}", at.cell, at.output)
            } else {
                format!("cell {}", at.cell)
            };
            out.child(Source::stored(bytes), name.or(Some(words)));
        }
        Ok(())
    }

    /// Looks for active markup in every string of a value.
    fn search(&self, value: NodeId, message: &str, place: Place, out: &mut Out<'_>) {
        if let Some(found) = active_string(self.doc, value) {
            self.tell(found, message, place, out);
        }
    }

    fn tell(&self, value: NodeId, message: &str, place: Place, out: &mut Out<'_>) {
        let span = self.doc.span(value);
        out.find(Finding::built_in(&ACTIVE).at(span.start, span.end).place(place).message(message));
    }

    /// The text of a string or of a list of strings, which is claimed.
    fn text(&mut self, id: NodeId, budget: &mut Budget) -> Result<Option<TextView>, Stop> {
        let mut items: Vec<NodeId> = match self.doc.kind(id) {
            Kind::Text => vec![id],
            Kind::Array => self.doc.children(id).collect(),
            _ => return Ok(None),
        };
        items.retain(|item| self.doc.kind(*item) == Kind::Text);
        for item in &items {
            if let Some(claimed) = self.claimed.get_mut(item.index()) {
                *claimed = true;
            }
        }
        joined(self.doc, &items, b"", budget)
    }

    /// Every string that was not read as something.
    fn rest(&self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let items: Vec<NodeId> = self
            .doc
            .ids()
            .filter(|id| self.doc.kind(*id) == Kind::Text && self.claimed.get(id.index()) == Some(&false))
            .collect();
        out.texts.extend(
            joined(self.doc, &items, b"\n", budget)?
                .map(|view| view.place(Place::default().name("part", "metadata")).judged()),
        );
        // Keys may be sentences too.
        let mut keys = Vec::new();
        for id in self.doc.ids() {
            if let Some(key) = self.doc.key(id).filter(|key| key.len() > 24 || key.contains(' ')) {
                keys.extend_from_slice(key.as_bytes());
                keys.push(b'\n');
            }
        }
        if !keys.is_empty() {
            budget.spend(Resource::DecodedBytes, count(keys.len()))?;
            out.read(TextView::beside(Bytes::from(keys), "keys"));
        }
        Ok(())
    }
}

/// A string in a value that holds active markup.
fn active_string(doc: &Doc, value: NodeId) -> Option<NodeId> {
    doc.descendants(value).find(|id| {
        doc.kind(*id) == Kind::Text && {
            let raw = doc.raw(*id);
            // Quotes that are escaped part attributes as well.
            memchr::memchr2(b'<', b'\\', raw).is_some()
                && (acts(raw) || acts(&raw.iter().copied().filter(|byte| *byte != b'\\').collect::<Vec<u8>>()))
        }
    })
}

/// Whether a formula links to script.
fn links_to_script(formula: &[u8]) -> bool {
    let link = memmem::find(formula, b"\\href{").and_then(|at| formula.get(at.saturating_add(6)..));
    link.is_some_and(|link| Address::of(link).runs())
}

/// The forms of an output of version 3, which stand beside each other by short names.
const SHORT_NAMES: [(&str, &str); 7] = [
    ("html", "text/html"),
    ("svg", "image/svg+xml"),
    ("javascript", "application/javascript"),
    ("latex", "text/latex"),
    ("png", "image/png"),
    ("jpeg", "image/jpeg"),
    ("pdf", "application/pdf"),
];

/// Strings put together, with the way back to each.
fn joined(doc: &Doc, items: &[NodeId], separator: &[u8], budget: &mut Budget) -> Result<Option<TextView>, Stop> {
    if let [one] = items {
        let text = doc.text(*one, budget)?;
        return Ok(text
            .filter(|text| !text.bytes.is_empty())
            .map(|text| TextView::decoded(text.bytes, text.map, vec!["json"])));
    }
    let mut bytes = Vec::new();
    let mut runs = Vec::new();
    let mut end = 0;
    for item in items {
        let Some(text) = doc.text(*item, budget)? else { continue };
        budget.spend(Resource::DecodedBytes, count(text.bytes.len()).saturating_add(16))?;
        let base = count(bytes.len());
        match text.map {
            OffsetMap::Runs(own) => runs.extend(own.into_iter().map(|(at, origin)| (base.saturating_add(at), origin))),
            map => runs.push((base, map.span(0, 0).start)),
        }
        bytes.extend_from_slice(&text.bytes);
        bytes.extend_from_slice(separator);
        end = doc.span(*item).end;
    }
    runs.push((count(bytes.len()), end));
    let is_said = !bytes.trim_ascii().is_empty();
    Ok(is_said.then(|| TextView::decoded(bytes.into(), OffsetMap::Runs(runs), vec!["json"])))
}

fn placed(finding: Finding, view: &TextView) -> Finding {
    let finding = finding.place(view.place.clone());
    match view.map.as_ref().map(|map| map.span(0, count(view.text.len()))) {
        Some(span) => finding.at(span.start, span.end),
        None => finding,
    }
}

fn active(message: &str, place: Place, view: &TextView, out: &mut Out<'_>) {
    out.find(placed(Finding::built_in(&ACTIVE), view).place(place).message(message));
}

/// A shell line of a cell that fetches and runs what comes: `!curl … | sh`, or a cell of `%%bash` that does.
fn fetches_and_runs(code: &[u8]) -> bool {
    let lower = code.to_ascii_lowercase();
    let is_shell_cell = lower.trim_ascii_start().strip_prefix(b"%%").is_some_and(|rest| {
        ["bash", "sh", "script", "sx", "system", "!", "cmd", "powershell", "pwsh", "zsh"]
            .iter()
            .any(|name| rest.starts_with(name.as_bytes()))
    });
    lower.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).any(|line| {
        let shell =
            line.strip_prefix(b"!").or_else(|| line.strip_prefix(b"%sx")).or_else(|| line.strip_prefix(b"%system"));
        let called = ["os.system(", "os.popen(", "subprocess.", "get_ipython().system("]
            .iter()
            .any(|call| memmem::find(line, call.as_bytes()).is_some());
        let assigned = memmem::find(line, b"= !").or_else(|| memmem::find(line, b"=!")).map(|_| line);
        let line = match (shell.or(assigned), is_shell_cell || called) {
            (Some(line), _) => line,
            (None, true) => line,
            (None, false) => return false,
        };
        runs_what_comes(line)
    })
}

/// A command line, in lower case, that gives what it fetches or decodes to an interpreter, or opens a way in.
fn runs_what_comes(line: &[u8]) -> bool {
    let has = |word: &str| memmem::find(line, word.as_bytes()).is_some();
    let fetches =
        ["curl ", "wget ", "base64 -d", "base64 --decode", "xxd -r", "nc ", "fetch ", "iwr ", "invoke-webrequest"]
            .iter()
            .any(|word| has(word));
    let is_piped = line.split(|byte| *byte == b'|').skip(1).any(|part| {
        let part = part.trim_ascii();
        let part = part.strip_prefix(b"sudo ").unwrap_or(part);
        let part = part.strip_prefix(b"/bin/").or_else(|| part.strip_prefix(b"/usr/bin/")).unwrap_or(part);
        let name = part.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        matches!(
            part.get(..name),
            Some(
                b"sh"
                    | b"bash"
                    | b"zsh"
                    | b"dash"
                    | b"ksh"
                    | b"python"
                    | b"python3"
                    | b"perl"
                    | b"ruby"
                    | b"node"
                    | b"php"
                    | b"iex"
            )
        )
    });
    let is_given =
        ["$(curl", "$(wget", "<(curl", "<(wget", "`curl", "`wget", "-c \"$(curl"].iter().any(|word| has(word));
    let then_run = fetches
        && ["&& sh ", "&& bash ", "; sh ", "; bash ", "&& chmod +x", "; chmod +x", "&& ./", "; ./"]
            .iter()
            .any(|word| has(word));
    let opens = has("/dev/tcp/") || has("nc -e") || has("ncat -e") || has("mkfifo ") && has("nc ");
    let erases = has("rm -rf /") && !has("rm -rf /tmp") && !has("rm -rf /content") || has(":(){");
    let is_encoded = has("powershell") && has(" -e") && has("nc");
    fetches && is_piped || is_given || then_run || opens || erases || is_encoded
}
