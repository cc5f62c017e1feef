//! The built-in rule files and policies of the scanner, as data.

/// Every rule file: its name and its text.
pub const FILES: &[(&str, &str)] = &[];

/// The shipped policies: name and text. `default` is the one in force when none is named.
pub const POLICIES: &[(&str, &str)] = &[
    ("default", include_str!("policies/default.toml")),
    ("permissive", include_str!("policies/permissive.toml")),
    ("report-only", include_str!("policies/report-only.toml")),
    ("strict", include_str!("policies/strict.toml")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/policies");
        let mut files: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let listed: Vec<String> = POLICIES.iter().map(|(name, _)| format!("{name}.toml")).collect();
        assert_eq!(listed, files);
    }
}
