//! What goes from the markup of a part: references to what is gone, fields and formulas that act, actions.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use crate::format::{
    office::{
        edit::{Editor, Edits, Fate},
        formula, link,
    },
    ooxml::{sheet, word},
    pull::{Name, Tag},
};

/// Elements that go wherever they stand: what they name is never kept.
const GONE: &[&[u8]] = &[
    b"FmlaMacro",
    b"HLinks",
    b"HyperlinkBase",
    b"OLEObject",
    b"altChunk",
    b"attachedSchema",
    b"attachedTemplate",
    b"contentPart",
    b"control",
    b"controls",
    b"custDataLst",
    b"dataBinding",
    b"docVars",
    b"entryMacro",
    b"exitMacro",
    b"externalData",
    b"externalReferences",
    b"frameset",
    b"mailMerge",
    b"model3d",
    b"ocx",
    b"oleObjects",
    b"saveThroughXslt",
    b"subDoc",
    b"webPublishItems",
    b"webPublishObjects",
];
/// Fields that compute from the document itself (ECMA-376 part 1 §17.16.5).
const FIELDS: &[&[u8]] = &[
    b"=",
    b"ADVANCE",
    b"AUTHOR",
    b"AUTONUM",
    b"AUTONUMLGL",
    b"AUTONUMOUT",
    b"BIBLIOGRAPHY",
    b"CITATION",
    b"COMMENTS",
    b"CREATEDATE",
    b"DATE",
    b"DOCPROPERTY",
    b"EDITTIME",
    b"EQ",
    b"FILENAME",
    b"FILESIZE",
    b"FORMCHECKBOX",
    b"FORMDROPDOWN",
    b"FORMTEXT",
    b"HYPERLINK",
    b"INDEX",
    b"KEYWORDS",
    b"LASTSAVEDBY",
    b"LISTNUM",
    b"MERGEFIELD",
    b"NOTEREF",
    b"NUMCHARS",
    b"NUMPAGES",
    b"NUMWORDS",
    b"PAGE",
    b"PAGEREF",
    b"PRINTDATE",
    b"REF",
    b"REVNUM",
    b"SAVEDATE",
    b"SECTION",
    b"SECTIONPAGES",
    b"SEQ",
    b"STYLEREF",
    b"SUBJECT",
    b"SYMBOL",
    b"TC",
    b"TIME",
    b"TITLE",
    b"TOA",
    b"TOC",
    b"USERADDRESS",
    b"USERINITIALS",
    b"USERNAME",
    b"XE",
];
/// Bytes of an instruction that are looked at; a longer one is none of those listed.
const LONGEST_FIELD: usize = 64 * 1024;
/// Sheets that are gone and that names are searched for. More are not there in earnest.
const FEW_SHEETS: usize = 16;
/// Names of attributes that refer to relationships, behind the prefix of their namespace.
const RELATIONS: &[&[u8]] =
    &[b"id", b"embed", b"link", b"pict", b"href", b"relid", b"dm", b"lo", b"qs", b"cs", b"blip"];
/// Elements that do without what they refer to.
const SPARED: &[&[u8]] = &[b"blip", b"imagedata", b"fill", b"stroke", b"pageSetup", b"worksheetSource"];

/// A field that is open.
#[derive(Default)]
struct Field {
    instruction: Vec<u8>,
    /// What goes with it.
    spans: Vec<Range<usize>>,
    has_result: bool,
    /// Another field stands in its instruction: what it will be is not known.
    is_computed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    Instruction,
    /// A formula of a cell.
    Formula,
    /// A formula of a format, a check or a name.
    Rule,
    Value,
}

/// Edits one part.
pub(super) struct Markup<'r> {
    /// Relationships of the part by id: whether they stay.
    ids: &'r BTreeMap<Vec<u8>, bool>,
    /// Sheets that it refers to are gone.
    lacks_sheets: bool,
    /// Their names.
    gone_sheets: Vec<Vec<u8>>,
    /// What was done.
    pub(super) actions: Vec<&'static str>,
    /// Prefixes of the namespace of relationships.
    prefixes: BTreeSet<Vec<u8>>,
    fields: Vec<Field>,
    mark: Vec<u8>,
    inside: Inside,
    formula: Vec<u8>,
    /// The group of formulas that the open one belongs to, and groups of which the first is gone.
    group: Option<Vec<u8>>,
    gone_groups: BTreeSet<Vec<u8>>,
    in_cell: bool,
    is_text_cell: bool,
    has_bad_rule: bool,
    links: u64,
}

impl<'r> Markup<'r> {
    pub(super) fn new(ids: &'r BTreeMap<Vec<u8>, bool>, lacks_sheets: bool) -> Self {
        Self {
            ids,
            lacks_sheets,
            gone_sheets: Vec::new(),
            actions: Vec::new(),
            prefixes: BTreeSet::new(),
            fields: Vec::new(),
            mark: Vec::new(),
            inside: Inside::Nothing,
            formula: Vec::new(),
            group: None,
            gone_groups: BTreeSet::new(),
            in_cell: false,
            is_text_cell: false,
            has_bad_rule: false,
            links: 0,
        }
    }

    fn gone(&mut self, action: &'static str, fate: Fate) -> Fate {
        self.actions.push(action);
        fate
    }

    /// Attributes of a tag that have to change.
    fn attributes(&mut self, tag: &Tag<'_>) -> Fate {
        let mut changes = Vec::new();
        for attribute in tag.attributes() {
            let (prefix, local) = (attribute.name.prefix(), attribute.name.local());
            let value = attribute.value();
            // An empty one refers to nothing: an action needs no more.
            let is_relation = !value.is_empty()
                && RELATIONS.contains(&local)
                && (self.prefixes.contains(prefix) || prefix == b"o" && local == b"relid");
            let change = if is_relation && self.ids.get(&*value) != Some(&true) {
                match tag.local() {
                    b"hyperlink" => return self.gone("removed link", Fate::Unwrap),
                    name if SPARED.contains(&name) => None,
                    _ => return self.gone("removed reference to what is gone", Fate::Drop),
                }
            } else if is_relation {
                continue;
            } else if local == b"macro" && !value.is_empty() {
                Some(Vec::new())
            } else if tag.local() == b"sheet" && local == b"state" && &*value == b"veryHidden" {
                Some(b"hidden".to_vec())
            } else if self.is_attribute_gone(tag.local(), local, &value) {
                None
            } else {
                continue;
            };
            changes.push((attribute.name.0.to_vec(), change));
        }
        if changes.is_empty() { Fate::Keep } else { self.gone("removed attribute", Fate::Change(changes)) }
    }

    fn is_attribute_gone(&self, element: &[u8], name: &[u8], value: &[u8]) -> bool {
        match name {
            b"entryMacro" | b"exitMacro" | b"onAction" | b"onLoad" | b"refreshOnLoad" | b"src" | b"althref" => true,
            b"href" => !link::is_plain(value),
            b"tableType" | b"connectionId" => element == b"table",
            b"queryTableFieldId" => element == b"tableColumn",
            // They count sheets, of which some are gone.
            b"activeTab" | b"firstSheet" => element == b"workbookView" && self.lacks_sheets,
            _ => false,
        }
    }

    fn end_field(&mut self, edits: &mut Edits) {
        let Some(field) = self.fields.pop() else { return };
        let is_long = field.instruction.len() >= LONGEST_FIELD;
        if !is_long && !field.is_computed && is_field_kept(&field.instruction) {
            return;
        }
        self.actions.push("removed field");
        for span in field.spans {
            edits.drop(span);
        }
    }

    /// Whether the formula takes something from a sheet that is gone: `Name!A1`, `'Na me'!A1`.
    fn is_of_gone_sheet(&self) -> bool {
        let names = |mark: &[u8]| {
            let is_there = |name: &Vec<u8>| memchr::memmem::find(&self.formula, &[name, mark].concat()).is_some();
            self.gone_sheets.iter().take(FEW_SHEETS).any(is_there)
        };
        names(b"!") || names(b"'!")
    }

    fn end_formula(&mut self, span: Range<usize>, edits: &mut Edits) {
        let group = self.group.take();
        let is_gone = group.as_ref().is_some_and(|group| self.gone_groups.contains(group));
        if is_gone || acts(&self.formula) {
            self.gone_groups.extend(group);
            self.actions.push("removed formula");
            edits.drop(span);
        }
    }
}

impl Editor for Markup<'_> {
    fn start(&mut self, tag: &Tag<'_>) -> Fate {
        for attribute in tag.attributes().filter(|attribute| attribute.name.prefix() == b"xmlns") {
            if attribute.raw.ends_with(b"/relationships") {
                self.prefixes.insert(attribute.name.local().to_vec());
            }
        }
        let value = |name: &[u8]| tag.value(name).unwrap_or_default();
        match tag.local() {
            name if GONE.contains(&name) => return self.gone("removed element that acts", Fate::Drop),
            b"oleObj" => return self.gone("removed embedded object", Fate::DropAround(b"graphicFrame")),
            b"fldSimple" if !is_field_kept(&value(b"instr")) => return self.gone("removed field", Fate::Unwrap),
            b"fldChar" => self.mark = value(b"fldCharType").into_owned(),
            b"instrText" | b"delInstrText" => self.inside = Inside::Instruction,
            b"hlinkClick" | b"hlinkHover" | b"hlinkMouseOver" => {
                let action = value(b"action").to_ascii_lowercase();
                if [&b"ppaction://program"[..], b"ppaction://macro", b"ppaction://ole"]
                    .iter()
                    .any(|known| action.starts_with(known))
                {
                    return self.gone("removed action", Fate::Drop);
                }
            }
            b"definedName" => {
                // A name of one sheet counts sheets too.
                let is_of_sheet = self.lacks_sheets && tag.attribute(b"localSheetId").is_some();
                if is_of_sheet || sheet::is_start(&String::from_utf8_lossy(&value(b"name"))) {
                    return self.gone("removed name that runs", Fate::Drop);
                }
                (self.inside, self.formula) = (Inside::Rule, Vec::new());
            }
            b"c" => {
                self.in_cell = true;
                self.is_text_cell = matches!(&*value(b"t"), b"str" | b"inlineStr");
            }
            b"v" if self.in_cell => self.inside = Inside::Value,
            b"f" if self.in_cell => {
                (self.inside, self.formula) = (Inside::Formula, Vec::new());
                self.group = tag.value(b"si").map(std::borrow::Cow::into_owned);
            }
            b"f" | b"formula" | b"formula1" | b"formula2" => (self.inside, self.formula) = (Inside::Rule, Vec::new()),
            _ => {}
        }
        let fate = self.attributes(tag);
        if tag.local() == b"sheet" && fate == Fate::Drop {
            self.gone_sheets.push(value(b"name").into_owned());
        }
        if tag.local() == b"hyperlink" && fate != Fate::Unwrap {
            self.links = self.links.saturating_add(1);
        }
        fate
    }

    fn text(&mut self, text: &[u8]) {
        match self.inside {
            Inside::Instruction => {
                if let Some(field) = self.fields.last_mut()
                    && field.instruction.len() < LONGEST_FIELD
                {
                    field.instruction.extend_from_slice(text);
                }
            }
            Inside::Formula | Inside::Rule => self.formula.extend_from_slice(text),
            Inside::Nothing | Inside::Value => {}
        }
    }

    fn end(&mut self, name: Name<'_>, span: Range<usize>, edits: &mut Edits) {
        match name.local() {
            b"fldChar" => match std::mem::take(&mut self.mark).as_slice() {
                b"begin" => {
                    if let Some(outer) = self.fields.last_mut().filter(|outer| !outer.has_result) {
                        outer.is_computed = true;
                    }
                    self.fields.push(Field { spans: vec![span], ..Field::default() });
                }
                kind => {
                    if let Some(field) = self.fields.last_mut() {
                        field.spans.push(span);
                        field.has_result |= kind == b"separate";
                    }
                    if kind == b"end" {
                        self.end_field(edits);
                    }
                }
            },
            b"instrText" | b"delInstrText" => {
                self.inside = Inside::Nothing;
                if let Some(field) = self.fields.last_mut() {
                    field.spans.push(span);
                }
            }
            b"document" | b"hdr" | b"ftr" | b"comments" | b"footnotes" | b"endnotes" | b"glossaryDocument" => {
                // A field that does not end acts all the same.
                while !self.fields.is_empty() {
                    self.end_field(edits);
                }
            }
            b"c" => self.in_cell = false,
            b"v" => self.inside = Inside::Nothing,
            b"f" if self.inside == Inside::Formula => {
                self.inside = Inside::Nothing;
                self.end_formula(span, edits);
            }
            b"f" | b"formula" | b"formula1" | b"formula2" => {
                self.inside = Inside::Nothing;
                self.has_bad_rule |= acts(&self.formula);
            }
            b"definedName" => {
                self.inside = Inside::Nothing;
                if acts(&self.formula) || self.is_of_gone_sheet() {
                    self.actions.push("removed name");
                    edits.drop(span);
                }
            }
            b"conditionalFormatting" | b"conditionalFormattings" | b"dataValidations" | b"sparklineGroups"
                if std::mem::take(&mut self.has_bad_rule) =>
            {
                self.actions.push("removed rule");
                edits.drop(span);
            }
            // A list of links must not be empty.
            b"hyperlinks" if self.links == 0 => edits.drop(span),
            _ => {}
        }
    }

    fn is_text(&self) -> bool {
        match self.inside {
            Inside::Value => self.is_text_cell,
            Inside::Nothing => true,
            _ => false,
        }
    }
}

/// Whether a field only shows what the document says, or is a link to the web.
fn is_field_kept(instruction: &[u8]) -> bool {
    let Some(name) = word::field_name(instruction) else { return true };
    let is_link = name == b"HYPERLINK";
    let name = if name.starts_with(b"=") { &b"="[..] } else { &name };
    FIELDS.contains(&name)
        && (!is_link || word::link_of(instruction).is_none_or(|target| link::is_plain(target.as_bytes())))
}

/// Whether a formula reaches outside its workbook.
fn acts(formula: &[u8]) -> bool {
    formula::reaches_out(formula) || formula::is_of_other_file(formula)
}
