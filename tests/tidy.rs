//! What keeps the house in order: modules name only those above them, registries are their folders, nothing unsafe or
//! of this machine is committed, and the documents speak of what is there.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use scanner_tests::root;

/// Every Rust file below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The modules of the core, in the order of its table of contents.
fn order() -> Vec<String> {
    let contents = fs::read_to_string(root().join("scanner-core/src/lib.rs")).unwrap();
    contents.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).map(str::to_owned).collect()
}

#[test]
fn each_module_of_the_core_names_only_those_above_it() {
    let order = order();
    assert!(order.len() > 10);
    let place = |module: &str| order.iter().position(|known| known == module);
    let source = root().join("scanner-core/src");
    let mut wrong = Vec::new();
    for file in rust_files(&source) {
        let below = file.strip_prefix(&source).unwrap();
        let own = below.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let Some(own_place) = place(&own) else { continue };
        // Tests may look anywhere.
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        if file.ends_with("tests.rs") {
            continue;
        }
        for module in named_modules(code) {
            if place(&module).is_some_and(|named| named > own_place) {
                wrong.push(format!("{} names {module}, which is below {own}", below.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The modules that code reaches through `crate::`, one by one or in braces.
fn named_modules(code: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    let word = |text: &str| text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    for (at, _) in code.match_indices("crate::") {
        let line_start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
        if code[line_start..at].trim_start().starts_with("//") {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            modules.insert(word(rest));
            continue;
        };
        // Top-level items of the braces.
        let (mut depth, mut item) = (0, String::new());
        for character in group.chars() {
            match character {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    modules.insert(word(item.trim()));
                    item.clear();
                    continue;
                }
                _ => {}
            }
            item.push(character);
        }
        modules.insert(word(item.trim()));
    }
    modules.remove("");
    modules
}

#[test]
fn the_search_for_named_modules_finds_them() {
    let code = "use crate::{\n    policy::{Case, Policy},\n    scan,\n};\nfn a() { crate::text::b() }\n// crate::output is not named\n";
    assert_eq!(named_modules(code), ["policy", "scan", "text"].map(str::to_owned).into());
}

/// Names of the Rust files of a folder that define that constant: the others are parts that several of them have.
fn modules_in(folder: &str, constant: &str) -> BTreeSet<String> {
    fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| fs::read_to_string(path).unwrap().contains(&format!(" {constant}: ")))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

/// The modules that the list `ALL` of a file names.
fn listed_in(file: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let list = text.split("const ALL:").nth(1).unwrap_or_else(|| panic!("{file} has no list ALL"));
    let list = list.split("];").next().unwrap().split('=').nth(1).unwrap();
    list.split(['[', ',', '&', ' ', '\n'])
        .filter_map(|item| item.split_once("::"))
        .map(|(module, _)| module.to_owned())
        .collect()
}

#[test]
fn registries_are_their_folders() {
    for (file, folder, constant) in [
        ("scanner-core/src/format.rs", "scanner-core/src/format", "FORMAT"),
        ("scanner-core/src/provider.rs", "scanner-core/src/provider", "PROVIDER"),
        ("scanner-core/src/text/check.rs", "scanner-core/src/text/check", "CHECK"),
    ] {
        assert_eq!(listed_in(file), modules_in(folder, constant), "{file} and {folder} differ");
    }
}

#[test]
fn every_format_and_provider_has_its_cases() {
    let areas: BTreeSet<String> = fs::read_dir(root().join("corpus"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let folders = ["scanner-core/src/format.rs", "scanner-core/src/provider.rs"];
    for module in folders.iter().flat_map(|file| listed_in(file)) {
        assert!(areas.contains(&module), "corpus/{module}/ is missing");
    }
}

#[test]
fn every_rule_id_is_unique_and_every_category_known() {
    let mut ids = BTreeSet::new();
    let coded = scanner_core::rules_in_code();
    let loaded = scanner_tests::RULES.rules().map(|text| &*text.rule);
    for rule in loaded.chain(coded) {
        assert!(ids.insert(rule.id.clone()), "{} stands twice", rule.id);
        assert!(scanner_core::is_category(&rule.category), "{}: {} is no category", rule.id, rule.category);
        assert!(
            rule.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-/".contains(c)),
            "{}",
            rule.id
        );
        for words in [&rule.title, &rule.why, &rule.remedy] {
            assert!(!words.trim().is_empty(), "{} does not say it", rule.id);
        }
    }
    assert!(ids.len() > 60, "{} rules", ids.len());
}

#[test]
fn every_example_of_every_rule_does_what_it_says() {
    assert_eq!(scanner_tests::RULES.test(), []);
}

#[test]
fn every_planted_bug_has_its_place_and_its_target() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    let bugs = scanner_tests::planted::planted(&root()).unwrap();
    assert!(bugs.len() >= 10, "{} bugs", bugs.len());
    let mut taken = BTreeSet::new();
    for bug in bugs {
        assert!(bug.applied(&root()).unwrap().is_some(), "{}: its place is not there once", bug.name);
        assert!(!bug.why.is_empty() && bug.find != bug.put, "{}", bug.name);
        assert!(manifest.contains(&format!("name = \"{}\"\n", bug.target)), "{}: no target {}", bug.name, bug.target);
        assert!(taken.insert((bug.round, bug.target)), "{}: another bug of its round has its target", bug.name);
    }
}

#[test]
fn every_fuzz_target_is_built_and_told_of() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    let guide = fs::read_to_string(root().join("fuzz/README.md")).unwrap();
    let targets = rust_files(&root().join("fuzz/targets"));
    assert!(targets.len() >= 20, "{} targets", targets.len());
    for target in targets {
        let name = target.file_stem().unwrap().to_str().unwrap();
        assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name} is not in fuzz/Cargo.toml");
        assert!(guide.contains(&format!("| `{name}` |")), "{name} is not in fuzz/README.md");
    }
}

#[test]
fn nothing_names_this_machine() {
    // Put together here, so that this file does not name them either.
    let hosts = ["crates", "pypi", "npmjs", "debian"]
        .map(|host| format!("{host}.{}", if host == "crates" { "io" } else { "org" }));
    let folders = ["work", "tmp/bash"].map(|folder| format!("/{folder}/"));
    let mut folders_to_read = vec![root()];
    while let Some(folder) = folders_to_read.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap_or_default().to_owned();
            if [".git", "target", "node_modules"].contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders_to_read.push(path);
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            for word in hosts.iter().chain(&folders) {
                // A lock file names the registry that every checkout uses, by its public index.
                if name != "Cargo.lock" {
                    assert!(!text.contains(word.as_str()), "{} names {word}", path.display());
                }
            }
        }
    }
}

#[test]
fn documents_name_files_that_exist() {
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !target.starts_with("http") && !target.starts_with('#') {
                assert!(root().join(target).exists(), "{document} links to {target}, which is not there");
            }
        }
    }
}
