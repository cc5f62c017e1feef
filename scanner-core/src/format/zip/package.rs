//! Zips that install something: extensions of browsers and editors, packages of Python and .NET, apps.

use memchr::memmem;

use super::Archive;
use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity},
    format::Out,
    inflate,
    limits::Budget,
    reader::count,
};

pub(super) static PACKAGE: Rule = Rule::built_in(
    "zip/package",
    "exec.package",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A package that installs software",
        why: "Opened by the program it is for, its code becomes part of that program and runs with all its rights.",
        remedy: "Do not deliver it unless a package was asked for.",
    },
);

/// A manifest is a page of JSON.
const LONGEST_MANIFEST_BYTES: u64 = 64 * 1024;

impl Archive<'_> {
    /// Says what it installs, if it does.
    pub(super) fn installs(&self, label: &str, out: &mut Out<'_>, budget: &mut Budget) {
        let begins = self.bytes.starts_with(b"Cr24");
        let what = if begins || self.is_extension(budget) {
            Some("an extension of a browser")
        } else if label == "whl" {
            Some("a package of Python")
        } else {
            self.entries.iter().find_map(|entry| by_name(&entry.raw))
        };
        if let Some(what) = what {
            let finding = Finding::built_in(&PACKAGE).at(0, count(self.bytes.len().min(16)));
            out.find(finding.message(format!("{}: {what}", PACKAGE.title)));
        }
    }

    /// A page that can be installed has a `manifest.json` too; that of an extension says which version of manifests it is.
    fn is_extension(&self, budget: &mut Budget) -> bool {
        self.entries
            .iter()
            .find(|entry| *entry.raw == *b"manifest.json")
            .filter(|entry| entry.size <= LONGEST_MANIFEST_BYTES && entry.packed <= LONGEST_MANIFEST_BYTES)
            .and_then(|entry| self.source(entry).ok())
            .is_some_and(|source| {
                memmem::find(&inflate::unpack(&source, budget).bytes, b"\"manifest_version\"").is_some()
            })
    }
}

/// Members that only such a package has.
fn by_name(name: &[u8]) -> Option<&'static str> {
    let is_at_root = !name.contains(&b'/');
    Some(match name {
        b"extension.vsixmanifest" => "an extension of an editor",
        b"install.rdf" | b"META-INF/mozilla.rsa" => "an extension of a browser",
        b"AppxManifest.xml" | b"AppxBlockMap.xml" => "an app of Windows",
        b"EGG-INFO/PKG-INFO" => "a package of Python",
        _ if is_at_root && name.ends_with(b".nuspec") => "a package of .NET",
        _ if name.starts_with(b"Payload/") && memmem::find(name, b".app/").is_some() => "an app of iOS",
        _ => return None,
    })
}
