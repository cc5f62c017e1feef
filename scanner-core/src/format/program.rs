//! Programs: recognised and named, never looked into. Scripts are read as text besides.

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject, text},
    limits::Budget,
    reader::count,
};

pub(super) mod document;
pub(super) mod launcher;
mod shape;

pub(crate) const FORMAT: Format = Format {
    name: "program",
    labels: &[
        "elf",
        "pe",
        "macho",
        "wasm",
        "class",
        "dex",
        "pyc",
        "swf",
        "lnk",
        "luac",
        "chm",
        "crx",
        "msi",
        "rpm",
        "iso",
        "diskimage",
        "ar",
        "regfile",
        "batch",
        "powershell",
        "shell",
        "php",
        "python",
        "javascript",
        "typescript",
        "perl",
        "ruby",
        "lua",
        "r",
        "sql",
        "dockerfile",
        "makefile",
    ],
    inspect,
    clean: None,
    rules: &[
        &ELF,
        &PE,
        &MACHO,
        &WASM,
        &CLASS,
        &DEX,
        &PYC,
        &FLASH,
        &LNK,
        &LUAC,
        &HELP,
        &EXTENSION,
        &INSTALLER,
        &PACKAGE,
        &IMAGE,
        &REGISTRY,
        &SHELL,
        &SERVER,
        &SOURCE,
        &SQL,
        &shape::STRUCTURE,
    ],
};

/// What a type is found to be.
fn rule_of(label: &str) -> Option<&'static Rule> {
    Some(match label {
        "elf" => &ELF,
        "pe" => &PE,
        "macho" => &MACHO,
        "wasm" => &WASM,
        "class" => &CLASS,
        "dex" => &DEX,
        "jar" => &JAR,
        "apk" => &APK,
        "pyc" => &PYC,
        "swf" => &FLASH,
        "lnk" => &LNK,
        "luac" => &LUAC,
        "chm" => &HELP,
        "crx" => &EXTENSION,
        "msi" => &INSTALLER,
        "rpm" | "ar" => &PACKAGE,
        "iso" | "diskimage" => &IMAGE,
        "regfile" => &REGISTRY,
        "batch" | "powershell" | "shell" => &SHELL,
        "php" => &SERVER,
        "sql" => &SQL,
        "python" | "javascript" | "typescript" | "perl" | "ruby" | "lua" | "r" | "dockerfile" | "makefile" => &SOURCE,
        _ => return None,
    })
}

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    // An archive of compiled code, or a Debian package: its first member says which.
    if subject.kind.label == "ar" && !subject.bytes.starts_with(b"!<arch>\ndebian-binary") {
        out.unsupported("nothing here looks into archives of compiled code");
        return Ok(());
    }
    if let Some(rule) = named(subject, out) {
        if let Some((what, at)) = shape::broken(subject.kind.label, subject.bytes, budget)? {
            let length = count(subject.bytes.len());
            let (at, end) = (at.min(length), at.saturating_add(4).min(length));
            let finding = Finding::built_in(&shape::STRUCTURE).at(at, end).message(what);
            out.find(finding.place(Place::default().number("offset", at)));
        }
        if !subject.kind.is_text && rule.severity < Severity::High {
            out.unsupported("nothing here looks into this kind of program");
        }
    }
    if subject.kind.is_text { text::inspect(subject, out, budget) } else { Ok(()) }
}

/// Says what a program is, if its type is one.
pub(super) fn named(subject: &Subject<'_>, out: &mut Out<'_>) -> Option<&'static Rule> {
    let rule = rule_of(subject.kind.label)?;
    let head = subject.bytes.len().min(HEAD);
    let finding = Finding::built_in(rule).at(0, count(head)).place(Place::default().number("offset", 0));
    out.find(finding.message(format!("{} ({})", rule.title, subject.kind.label)));
    Some(rule)
}

/// The bytes that a type is recognised by stand here.
const HEAD: usize = 16;

/// It runs when it is opened: double click, or a name typed.
const fn runs(id: &'static str, category: &'static str, title: &'static str) -> Rule {
    Rule::built_in(
        id,
        category,
        Severity::High,
        Confidence::High,
        RuleText {
            title,
            why: "It runs with all rights of the person who opens it. A result that was asked for as data has no need of it.",
            remedy: "Do not deliver it unless a program was asked for, and then only by a way that the receiver trusts.",
        },
    )
}

static ELF: Rule = runs("program/elf", "exec.elf", "A program or library for Linux and the like");
static PE: Rule = runs("program/pe", "exec.pe", "A program or library for Windows");
static MACHO: Rule = runs("program/macho", "exec.macho", "A program or library for macOS");
static WASM: Rule = runs("program/wasm", "exec.wasm", "A WebAssembly program");
static CLASS: Rule = runs("program/class", "exec.class", "A compiled Java class");
static DEX: Rule = runs("program/dex", "exec.dex", "Compiled Android code");
pub(super) static JAR: Rule = runs("program/jar", "exec.jar", "A Java program");
pub(super) static APK: Rule = runs("program/apk", "exec.apk", "An Android app");
static PYC: Rule = runs("program/pyc", "exec.pyc", "Compiled Python code");
static LNK: Rule = runs("program/shortcut", "exec.shortcut", "A Windows shortcut, which starts what it points at");
static LUAC: Rule = runs("program/luac", "exec.script", "Compiled Lua code");
static HELP: Rule =
    runs("program/help", "exec.installer", "A help file for Windows, whose pages may run what they like");
static EXTENSION: Rule = runs("program/extension", "exec.package", "An extension for a browser");
static INSTALLER: Rule = runs("program/installer", "exec.installer", "An installer for Windows");
static PACKAGE: Rule = runs("program/package", "exec.installer", "A package that installs software on Linux");
static IMAGE: Rule =
    runs("program/disk-image", "exec.installer", "A disk image, whose content opens without the marks of a download");
static REGISTRY: Rule =
    runs("program/registry", "exec.config", "Changes to the Windows registry, made at a double click");

static FLASH: Rule = Rule::built_in(
    "program/flash",
    "exec.script",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A Flash program",
        why: "Players for it are no longer maintained, and every hole in them stays open.",
        remedy: "Deliver a video or a page instead.",
    },
);

static SHELL: Rule = Rule::built_in(
    "program/shell-script",
    "exec.script",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A script for a command shell",
        why: "It runs commands with all rights of the person who starts it; on many systems a double click is enough.",
        remedy: "Let a person read it before it goes on.",
    },
);

static SERVER: Rule = Rule::built_in(
    "program/server-script",
    "script.server",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A script that a web server runs",
        why: "Stored where a web server looks for PHP, it runs on that server at the first request.",
        remedy: "Store and serve it as text only, outside of what the server executes.",
    },
);

static SOURCE: Rule = Rule::built_in(
    "program/source",
    "exec.script",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "Source code",
        why: "It does nothing until somebody runs it. Code tools write it all day.",
        remedy: "Nothing to do; read it before running it.",
    },
);

static SQL: Rule = Rule::built_in(
    "program/sql",
    "script.sql",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "Statements for a database",
        why: "They do nothing until somebody runs them.",
        remedy: "Nothing to do; read them before running them.",
    },
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::look;

    #[test]
    fn every_label_has_a_rule_that_is_listed() {
        for label in FORMAT.labels {
            let rule = rule_of(label).expect(label);
            assert!(FORMAT.rules.iter().any(|listed| listed.id == rule.id), "{label}");
        }
        // Beside the one rule that goes for several types.
        for rule in FORMAT.rules.iter().filter(|rule| !std::ptr::eq(**rule, &shape::STRUCTURE)) {
            assert!(
                FORMAT.labels.iter().any(|label| rule_of(label).is_some_and(|found| found.id == rule.id)),
                "{}",
                rule.id
            );
        }
    }

    #[test]
    fn programs_are_named_and_not_read() {
        let seen = look(&FORMAT, "elf", b"\x7fELF\x02\x01");
        assert_eq!(seen.facts(), ["high exec.elf 0..6", "medium malformed.structure 6..6"]);
        assert!(seen.texts.is_empty());
        assert_eq!(look(&FORMAT, "ar", b"!<arch>\ndebian-binary   ").facts(), ["high exec.installer 0..16"]);
        assert_eq!(look(&FORMAT, "ar", b"!<arch>\nlibm.o/ ").facts(), ["gap unsupported"]);
        assert_eq!(look(&FORMAT, "swf", b"CWS").facts(), ["medium exec.script 0..3", "gap unsupported"]);
    }

    #[test]
    fn honest_source_is_no_alarm_and_shell_is_for_a_person() {
        assert_eq!(look(&FORMAT, "python", b"print(1)\n").facts(), ["info exec.script 0..9"]);
        assert_eq!(look(&FORMAT, "shell", b"#!/bin/sh\ntrue\n").facts(), ["medium exec.script 0..15"]);
        assert_eq!(look(&FORMAT, "php", b"<?php 1;").facts(), ["medium script.server 0..8"]);
    }
}
