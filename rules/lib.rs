//! The built-in rule files and policies of the scanner, as data.

/// Every rule file: its name and its text. A test compares the list with the folders.
pub const FILES: &[(&str, &str)] = &[
    // Not rules: the literals that matches begin with, made from them. `BLESS=1` with the tests of `tests/tidy.rs`.
    ("anchors.tsv", include_str!("anchors.tsv")),
    ("html/markdown.toml", include_str!("html/markdown.toml")),
    ("injection/action.toml", include_str!("injection/action.toml")),
    ("injection/conceal.toml", include_str!("injection/conceal.toml")),
    ("injection/languages-asian.toml", include_str!("injection/languages-asian.toml")),
    ("injection/languages-germanic.toml", include_str!("injection/languages-germanic.toml")),
    ("injection/languages-romance.toml", include_str!("injection/languages-romance.toml")),
    ("injection/languages-slavic.toml", include_str!("injection/languages-slavic.toml")),
    ("injection/languages-slots.toml", include_str!("injection/languages-slots.toml")),
    ("injection/marker.toml", include_str!("injection/marker.toml")),
    ("injection/override.toml", include_str!("injection/override.toml")),
    ("injection/persona.toml", include_str!("injection/persona.toml")),
    ("injection/sign.toml", include_str!("injection/sign.toml")),
    ("injection/slots.toml", include_str!("injection/slots.toml")),
    ("injection/voice.toml", include_str!("injection/voice.toml")),
    ("malware/eicar.toml", include_str!("malware/eicar.toml")),
    ("secrets/ai.toml", include_str!("secrets/ai.toml")),
    ("secrets/cloud.toml", include_str!("secrets/cloud.toml")),
    ("secrets/code.toml", include_str!("secrets/code.toml")),
    ("secrets/messaging.toml", include_str!("secrets/messaging.toml")),
    ("secrets/password.toml", include_str!("secrets/password.toml")),
    ("secrets/payment.toml", include_str!("secrets/payment.toml")),
    ("secrets/token.toml", include_str!("secrets/token.toml")),
];

/// The shipped policies: name and text. `default` is the one in force when none is named.
pub const POLICIES: &[(&str, &str)] = &[
    ("default", include_str!("policies/default.toml")),
    ("permissive", include_str!("policies/permissive.toml")),
    ("report-only", include_str!("policies/report-only.toml")),
    ("strict", include_str!("policies/strict.toml")),
];

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// The files of the rule folders, or of the folder of policies, as `folder/file`.
    fn files(policies: bool) -> BTreeSet<String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = fs::read_dir(here).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
        let mut found = BTreeSet::new();
        for folder in folders.filter(|folder| folder.ends_with("policies") == policies) {
            for file in fs::read_dir(&folder).unwrap() {
                let (folder, file) = (folder.file_name().unwrap(), file.unwrap().file_name());
                found.insert(format!("{}/{}", folder.to_str().unwrap(), file.to_str().unwrap()));
            }
        }
        found
    }

    #[test]
    fn the_lists_are_the_folders() {
        let rules = FILES.iter().filter(|(name, _)| *name != "anchors.tsv").map(|(name, _)| (*name).to_owned());
        assert_eq!(rules.collect::<BTreeSet<_>>(), files(false));
        let policies: BTreeSet<String> = POLICIES.iter().map(|(name, _)| format!("policies/{name}.toml")).collect();
        assert_eq!(policies, files(true));
    }
}
