//! The built-in rule files and policies of the scanner, as data.

/// Every rule file: its name and its text. A test compares the list with the folders.
pub const FILES: &[(&str, &str)] = &[
    ("html/markdown.toml", include_str!("html/markdown.toml")),
    ("injection/action.toml", include_str!("injection/action.toml")),
    ("injection/conceal.toml", include_str!("injection/conceal.toml")),
    ("injection/languages-asian.toml", include_str!("injection/languages-asian.toml")),
    ("injection/languages-germanic.toml", include_str!("injection/languages-germanic.toml")),
    ("injection/languages-romance.toml", include_str!("injection/languages-romance.toml")),
    ("injection/languages-slavic.toml", include_str!("injection/languages-slavic.toml")),
    ("injection/marker.toml", include_str!("injection/marker.toml")),
    ("injection/override.toml", include_str!("injection/override.toml")),
    ("injection/persona.toml", include_str!("injection/persona.toml")),
    ("injection/sign.toml", include_str!("injection/sign.toml")),
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn the_list_is_the_folders() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = BTreeSet::new();
        for folder in fs::read_dir(here).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
            let family = folder.file_name().unwrap().to_str().unwrap().to_owned();
            if family == "policies" || family == "target" {
                continue;
            }
            for file in fs::read_dir(&folder).unwrap() {
                found.insert(format!("{family}/{}", file.unwrap().file_name().to_str().unwrap()));
            }
        }
        let listed: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, found);
        assert_eq!(listed.len(), FILES.len());
    }
}
