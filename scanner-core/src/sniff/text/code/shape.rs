//! Lines and blocks whose shape tells a language: an import is not the word "import".

use super::Scores;
use crate::sniff::peek::find;

/// Adds what the shape of one line tells.
pub(super) fn line(line: &[u8], scores: &mut Scores) {
    let trimmed = line.trim_ascii();
    let length = trimmed.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let (Some(word), Some(rest)) = (trimmed.get(..length), trimmed.get(length..)) else { return };
    let arguments = rest.trim_ascii_start();
    let spaced = rest.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    let ends = |end: &[u8]| trimmed.ends_with(end);
    match word {
        b"import" if spaced => import(arguments, scores),
        b"from" if spaced => {
            let module = name(arguments, b"._");
            let after = arguments.get(module.len()..).unwrap_or_default().trim_ascii_start();
            scores.add("python", if !module.is_empty() && after.starts_with(b"import") { 5 } else { 0 });
        }
        b"def" if spaced => {
            let function = name(arguments, b"_.?!=");
            let after = arguments.get(function.len()..).unwrap_or_default();
            if function.is_empty() {
            } else if after.starts_with(b"(")
                && (ends(b":") || find(after, b"):").is_some() || find(after, b") ->").is_some())
            {
                scores.add("python", 4);
            } else if ends(b" do") {
                scores.add("functional", 4);
            } else if ends(b"=") || find(after, b"): ").is_some() || ends(b"= {") {
                scores.add("scala", 4);
            } else if ends(b"{") {
                scores.add("kotlin", 2);
            } else if after.is_empty() || after.starts_with(b"(") {
                scores.add("ruby", 3);
                scores.add("python", u32::from(ends(b"(") || ends(b",")).saturating_mul(2));
            } else {
                scores.add(
                    "ruby",
                    u32::from(
                        after.trim_ascii().iter().all(|byte| byte.is_ascii_alphanumeric() || b"_, =*&:".contains(byte))
                            && after.contains(&b','),
                    ),
                );
            }
        }
        b"class" if spaced => {
            let class = name(arguments, b"_:.");
            let after = arguments.get(class.len()..).unwrap_or_default().trim_ascii_start();
            if class.is_empty() {
            } else if arguments.ends_with(b":") && (after.is_empty() || after.starts_with(b"(")) {
                scores.add("python", 4);
            } else if after.starts_with(b"< ") {
                scores.add("ruby", 5);
            } else if ends(b"{") || after.contains(&b'{') {
                for language in ["javascript", "java", "typescript", "csharp", "kotlin", "swift", "c"] {
                    scores.add(language, 1);
                }
                scores.add("c", u32::from(after.starts_with(b": public")).saturating_mul(4));
            } else if after.is_empty() && class.first().is_some_and(u8::is_ascii_uppercase) {
                scores.add("ruby", 2);
            }
        }
        b"module"
            if spaced
                && name(arguments, b"_:") == arguments
                && arguments.first().is_some_and(u8::is_ascii_uppercase) =>
        {
            scores.add("ruby", 2)
        }
        b"if" | b"while" | b"for" | b"elif" | b"with" | b"except" | b"else" | b"try" if ends(b":") => {
            scores.add("python", if word.len() == 2 || spaced { 1 } else { 0 });
        }
        b"const" | b"let" | b"var" if spaced => {
            let name = name(arguments, b"_$");
            let after = arguments.get(name.len()..).unwrap_or_default().trim_ascii_start();
            let destructured =
                arguments.starts_with(b"{ ") || arguments.starts_with(b"[") || arguments.starts_with(b"{");
            if (after.starts_with(b"=") && !name.is_empty()) || (destructured && find(arguments, b"=").is_some()) {
                scores.add(
                    "javascript",
                    if ends(b";") || ends(b"{") || ends(b"=> {") {
                        if word == b"const" || destructured { 4 } else { 2 }
                    } else {
                        1
                    },
                );
            } else if after.starts_with(b":") && !name.is_empty() {
                scores.add("typescript", u32::from(word != b"var" || ends(b";")));
                scores.add("rust", u32::from(word != b"var" && ends(b";")));
                scores.add("swift", u32::from(!ends(b";")).saturating_mul(2));
            } else if word == b"var" && !name.is_empty() && (ends(b";") || ends(b",")) && after.len() <= 1 {
                scores.add("javascript", 2);
            }
        }
        b"function" if spaced => function(arguments, ends(b"{") || arguments.contains(&b'{'), scores),
        b"local" if spaced => {
            let names = arguments.split(|byte| *byte == b'=').next().unwrap_or_default();
            let plain =
                !names.is_empty() && names.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_, <>".contains(byte));
            let set = plain && names.len() < arguments.len() && names.ends_with(b" ");
            scores.add("lua", u32::from(set).saturating_mul(4));
            scores.add("shell", u32::from(plain && names.len() < arguments.len() && !set).saturating_mul(2));
        }
        b"require" if spaced && matches!(arguments.first(), Some(b'"' | b'\'')) => {
            scores.add(if ends(b";") { "perl" } else { "ruby" }, if ends(b";") { 2 } else { 4 });
        }
        b"print" if rest.starts_with(b"(") && ends(b")") => scores.add("python", 2),
        b"interface" if spaced && arguments.contains(&b'{') => {
            scores.add("typescript", 3);
            scores.add("java", 2);
        }
        b"type" if spaced => {
            let name = name(arguments, b"_");
            let after = arguments.get(name.len()..).unwrap_or_default().trim_ascii_start();
            scores.add(
                "go",
                u32::from(after.starts_with(b"struct {") || after.starts_with(b"interface {")).saturating_mul(5),
            );
            scores.add(
                "typescript",
                u32::from(
                    (after.starts_with(b"=") || after.starts_with(b"<")) && ends(b";")
                        || after.starts_with(b"= {")
                        || after.starts_with(b"= \""),
                )
                .saturating_mul(3),
            );
        }
        b"fn" if spaced && arguments.contains(&b'(') => scores.add("rust", 4),
        b"mod" if spaced && (ends(b";") || ends(b"{")) => scores.add("rust", 3),
        b"use" if spaced => {
            let path = name(arguments, b"_:");
            let rust = find(path, b"::").is_some() && ends(b";") && path.first().is_some_and(u8::is_ascii_lowercase);
            scores.add("rust", u32::from(rust).saturating_mul(4));
            let perl = path.first().is_some_and(u8::is_ascii_uppercase) && (ends(b";"));
            scores.add("perl", u32::from(perl).saturating_mul(3));
            scores.add("php", u32::from(find(arguments, b"\\").is_some() && ends(b";")).saturating_mul(4));
        }
        b"func" if spaced && arguments.contains(&b'(') && arguments.contains(&b'{') => {
            scores.add("go", 3);
            scores.add(
                "swift",
                u32::from(find(arguments, b") -> ").is_some() || find(arguments, b": ").is_some()).saturating_mul(4),
            );
        }
        b"package" if spaced => {
            let package = name(arguments, b"_.:");
            let end = arguments.get(package.len()..).unwrap_or_default().trim_ascii();
            match end {
                b"" if !package.contains(&b'.') && !package.is_empty() => scores.add("go", 4),
                b"" if !package.is_empty() => {
                    scores.add("kotlin", 3);
                    scores.add("scala", 3);
                }
                b";" if find(package, b"::").is_some() => scores.add("perl", 5),
                b";" => {
                    scores.add("java", 4);
                    scores
                        .add("perl", u32::from(package.first().is_some_and(u8::is_ascii_uppercase)).saturating_mul(4));
                }
                _ => {}
            }
        }
        b"sub" if spaced && arguments.contains(&b'{') => scores.add("perl", 3),
        b"has" if spaced && find(arguments, b"=>").is_some() => scores.add("perl", 3),
        b"for"
            if spaced && (find(arguments, b"; do").is_some() || ends(b" do")) && find(arguments, b" in ").is_some() =>
        {
            scores.add("shell", 4)
        }
        b"for" if spaced && arguments.starts_with(b"(") => {
            for language in ["javascript", "c", "java", "csharp", "php"] {
                scores.add(language, 1);
            }
            scores.add(
                "javascript",
                u32::from(
                    arguments.starts_with(b"(const ")
                        || arguments.starts_with(b"(let ")
                        || arguments.starts_with(b"(var "),
                )
                .saturating_mul(3),
            );
            scores.add(
                "c",
                u32::from(
                    arguments.starts_with(b"(int ")
                        || arguments.starts_with(b"(size_t ")
                        || arguments.starts_with(b"(i = "),
                )
                .saturating_mul(1),
            );
        }
        b"if" if spaced && find(arguments, b"; then").is_some() => scores.add("shell", 4),
        b"if" if spaced && ends(b" then") && !arguments.starts_with(b"[") => scores.add("lua", 2),
        _ => {}
    }
    if trimmed.starts_with(b"#include") {
        let target = trimmed.get(8..).unwrap_or_default().trim_ascii_start();
        scores.add("c", if target.starts_with(b"<") || target.starts_with(b"\"") { 6 } else { 0 });
    }
    if trimmed.starts_with(b"#import") {
        let target = trimmed.get(7..).unwrap_or_default().trim_ascii_start();
        scores.add("c", if target.starts_with(b"<") || target.starts_with(b"\"") { 6 } else { 0 });
    }
    assignment(trimmed, word, rest, scores);
    // `name() {` is how a shell defines a function; `name(args) {` is a method of JavaScript.
    if length > 0 && rest.starts_with(b"() {") && ends(b"{") {
        scores.add("shell", 2);
    }
    if trimmed.starts_with(b"@")
        && trimmed.get(1).is_some_and(u8::is_ascii_alphabetic)
        && !trimmed.contains(&b'{')
        && !ends(b";")
        && (trimmed.contains(&b'.') || ends(b")"))
    {
        scores.add("python", 1);
    }
    if trimmed.starts_with(b"function ") && trimmed.contains(&b'-') && (ends(b"{") || trimmed.contains(&b'{')) {
        scores.add("powershell", 4);
    }
}

/// A dotted name, or one with other marks.
fn name<'a>(text: &'a [u8], marks: &[u8]) -> &'a [u8] {
    let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || marks.contains(byte)).count();
    text.get(..length).unwrap_or_default()
}

fn import(arguments: &[u8], scores: &mut Scores) {
    let code = arguments.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
    // `import a.b as c, d`: names, commas, `as`, nothing else.
    let names = code.split(|byte| *byte == b',').all(|part| {
        let mut words = part.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let module = words.next().unwrap_or_default();
        let is_name = |word: &[u8]| {
            !word.is_empty() && name(word, b"._") == word && !word.starts_with(b".") && !word.ends_with(b".")
        };
        match (words.next(), words.next(), words.next()) {
            (None, ..) => is_name(module),
            (Some(b"as"), Some(alias), None) => is_name(module) && is_name(alias),
            _ => false,
        }
    });
    if names {
        scores.add("python", if code.iter().filter(|byte| **byte == b'.').count() > 2 { 1 } else { 4 });
        scores.add("kotlin", u32::from(find(code, b".").is_some()).saturating_mul(3));
        scores.add("scala", u32::from(find(code, b"._").is_some()).saturating_mul(5));
    }
    let quoted = arguments.ends_with(b"';")
        || arguments.ends_with(b"\";")
        || arguments.ends_with(b"'")
        || arguments.ends_with(b"\"");
    if find(arguments, b" from ").is_some() && quoted {
        scores.add("javascript", 5);
    } else if quoted && (arguments.starts_with(b"\"") || arguments.starts_with(b"'")) {
        scores.add("javascript", if arguments.ends_with(b";") { 3 } else { 1 });
        scores.add("go", u32::from(arguments.starts_with(b"\"") && arguments.ends_with(b"\"")).saturating_mul(4));
    }
    if arguments.ends_with(b";") && name(arguments, b"._*").len().saturating_add(1) == arguments.len() {
        scores.add("java", 3);
    }
}

fn function(arguments: &[u8], braced: bool, scores: &mut Scores) {
    let function = name(arguments, b"_$.:-");
    let after = arguments.get(function.len()..).unwrap_or_default().trim_ascii_start();
    if after.starts_with(b"(") && braced {
        scores.add("javascript", 3);
        scores.add("php", u32::from(find(after, b"$").is_some()).saturating_mul(3));
        scores.add(
            "typescript",
            u32::from(find(after, b"): ").is_some() || find(after, b": string").is_some() || after.starts_with(b"<"))
                .saturating_mul(3),
        );
        scores.add("shell", u32::from(after.starts_with(b"()")).saturating_mul(1));
    } else if after.starts_with(b"(") && after.ends_with(b")") {
        scores.add("lua", 2);
        scores.add("numeric", 2);
    } else if after.starts_with(b"(") && function.is_empty() {
        scores.add("javascript", 1);
    } else if after.starts_with(b"=") && after.ends_with(b")")
        || (arguments.starts_with(b"[") && find(arguments, b"] =").is_some())
    {
        scores.add("numeric", 5);
    } else if after == b"{" && !function.contains(&b'-') {
        scores.add("shell", 3);
    } else if after.starts_with(b"<") && braced {
        scores.add("typescript", 4);
    }
}

/// Variables with a sigil, and how they are set.
fn assignment(trimmed: &[u8], word: &[u8], rest: &[u8], scores: &mut Scores) {
    if let Some(variable) = trimmed.strip_prefix(b"$") {
        let name = name(variable, b"_:");
        let after = variable.get(name.len()..).unwrap_or_default().trim_ascii_start();
        if !name.is_empty() && (after.starts_with(b"= ") || after.starts_with(b"=")) && !after.starts_with(b"==") {
            if trimmed.ends_with(b";") {
                scores.add("php", 2);
                scores.add("perl", 2);
            } else {
                scores.add("powershell", 2);
            }
        } else if !name.is_empty() && after.starts_with(b": ") && trimmed.ends_with(b";") {
            scores.add("various", 4);
        }
        if find(after, b" | ").is_some() || after.starts_with(b"| ") {
            scores.add("powershell", 1);
        }
    }
    // `NAME=value` without spaces.
    if !word.is_empty()
        && rest.starts_with(b"=")
        && !rest.starts_with(b"==")
        && rest.get(1).is_some_and(|byte| b"$\"'`(".contains(byte))
        && !trimmed.ends_with(b";")
        && !trimmed.ends_with(b",")
    {
        scores.add("shell", 1);
    }
}
