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

/// Adds what the text as a whole tells: statements and blocks go over lines.
pub(super) fn whole(start: &[u8], scores: &mut Scores) {
    let head = start.get(..super::CODE_BYTES).unwrap_or(start);
    statements(head, scores);
    style_sheet(head, scores);
    build_files(head, scores);
}

/// SQL: what follows the verb must fit it.
fn statements(head: &[u8], scores: &mut Scores) {
    let mut found = 0_u32;
    let mut begin = true;
    for line in super::lines(head).take(super::LINES) {
        let line = line.trim_ascii();
        if line.starts_with(b"--") || line.is_empty() || line.starts_with(b"/*") && line.ends_with(b"*/") {
            continue;
        }
        let line = line
            .strip_prefix(b"/*")
            .and_then(|rest| find(rest, b"*/").and_then(|at| rest.get(at.saturating_add(2)..)))
            .unwrap_or(line)
            .trim_ascii_start();
        let line = line.get(..super::LINE_BYTES).unwrap_or(line);
        if begin || line.first().is_some_and(u8::is_ascii_uppercase) {
            found = found.saturating_add(statement(line, head));
        }
        begin = line.ends_with(b";") || line.eq_ignore_ascii_case(b"go");
    }
    scores.add("sql", found.min(40));
}

fn statement(line: &[u8], head: &[u8]) -> u32 {
    let upper = line.to_ascii_uppercase();
    let words: Vec<&[u8]> = upper
        .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b';'))
        .filter(|word| !word.is_empty())
        .take(4)
        .collect();
    let (Some(first), second, third) =
        (words.first(), words.get(1).copied().unwrap_or_default(), words.get(2).copied().unwrap_or_default())
    else {
        return 0;
    };
    // Shouted key words are no prose; whispered ones need the marks of a statement.
    let shouted = line.starts_with(first);
    let marked = shouted || line.ends_with(b";") || line.ends_with(b"(") || line.ends_with(b",");
    let object = |word: &[u8]| {
        matches!(
            word,
            b"TABLE"
                | b"VIEW"
                | b"INDEX"
                | b"DATABASE"
                | b"SCHEMA"
                | b"FUNCTION"
                | b"PROCEDURE"
                | b"PROC"
                | b"TRIGGER"
                | b"TYPE"
                | b"EXTENSION"
                | b"UNIQUE"
                | b"OR"
                | b"TEMP"
                | b"TEMPORARY"
                | b"SEQUENCE"
                | b"USER"
                | b"ROLE"
                | b"MATERIALIZED"
                | b"EXTERNAL"
                | b"CLUSTERED"
                | b"NONCLUSTERED"
                | b"VIRTUAL"
                | b"PACKAGE"
                | b"DOMAIN"
                | b"GLOBAL"
                | b"IF"
                | b"COLUMN"
                | b"CONSTRAINT"
        )
    };
    match *first {
        b"SELECT" => {
            let text = head.get(..2000).unwrap_or(head).to_ascii_uppercase();
            let from = find(&upper, b" FROM ").is_some() || find(&text, b"FROM ").is_some();
            let exact = [&b"*"[..], b"=", b"(", b" WHERE ", b" JOIN "].iter().any(|mark| find(&upper, mark).is_some());
            let list = upper.contains(&b',') || upper.contains(&b'.') || second.is_empty();
            let ended = line.ends_with(b";") || head.trim_ascii_end().ends_with(b";");
            match (from, shouted) {
                (true, true) if exact || list || ended => 5,
                (true, false) if ended && (exact || list || words.len() <= 4) => 5,
                (false, _) if ended && exact => 4,
                _ => 0,
            }
        }
        b"INSERT" if matches!(second, b"INTO" | b"IGNORE" | b"OVERWRITE" | b"OR") => {
            if marked || find(&upper, b"VALUES").is_some() { 5 } else { 0 }
        }
        b"CREATE" | b"ALTER" | b"DROP" if object(second) && marked => 5,
        b"UPDATE" if find(&upper, b" SET ").is_some() && line.contains(&b'=') => 5,
        b"UPDATE" if shouted && third == b"SET" => 4,
        b"DELETE" if second == b"FROM" && marked => 4,
        b"WITH" if (third == b"AS" || second == b"RECURSIVE") && (line.contains(&b'(') || shouted) => 5,
        b"TRUNCATE" if second == b"TABLE" => 5,
        b"GRANT" | b"REVOKE" if find(&upper, b" ON ").is_some() && marked => 4,
        b"SET"
            if matches!(
                second,
                b"NAMES"
                    | b"SQL_MODE"
                    | b"FOREIGN_KEY_CHECKS"
                    | b"SEARCH_PATH"
                    | b"NOCOUNT"
                    | b"ANSI_NULLS"
                    | b"QUOTED_IDENTIFIER"
                    | b"TIME_ZONE"
                    | b"STATEMENT_TIMEOUT"
                    | b"TERM"
            ) =>
        {
            4
        }
        b"PRAGMA" if line.ends_with(b";") && !line.contains(&b'"') && shouted => 4,
        b"MERGE" if second == b"INTO" => 4,
        b"LOCK" | b"UNLOCK" if second == b"TABLES" => 4,
        b"COMMENT" if second == b"ON" && marked => 4,
        b"BEGIN" | b"COMMIT" | b"ROLLBACK" if line.ends_with(b";") && words.len() <= 2 => 2,
        b"COPY" if find(&upper, b" FROM STDIN").is_some() => 5,
        b"USE" if line.ends_with(b";") && words.len() == 2 && (shouted || line.contains(&b'`')) => 2,
        b"EXEC" | b"DECLARE" if line.contains(&b'@') => 3,
        _ => 0,
    }
}

/// CSS: `property: value` of known properties inside braces, and the rules that begin with `@`.
fn style_sheet(head: &[u8], scores: &mut Scores) {
    const PROPERTIES: &[&[u8]] = &[
        b"color",
        b"background",
        b"background-color",
        b"margin",
        b"padding",
        b"border",
        b"width",
        b"height",
        b"display",
        b"font",
        b"font-size",
        b"font-family",
        b"font-weight",
        b"position",
        b"top",
        b"left",
        b"right",
        b"bottom",
        b"float",
        b"clear",
        b"overflow",
        b"text-align",
        b"text-decoration",
        b"line-height",
        b"box-sizing",
        b"content",
        b"z-index",
        b"cursor",
        b"opacity",
        b"transform",
        b"transition",
        b"animation",
        b"flex",
        b"align-items",
        b"justify-content",
        b"src",
        b"max-width",
        b"min-width",
        b"max-height",
        b"min-height",
        b"visibility",
        b"vertical-align",
        b"white-space",
        b"list-style",
        b"outline",
        b"fill",
        b"stroke",
        b"grid-template-columns",
        b"border-radius",
        b"box-shadow",
        b"margin-top",
        b"margin-left",
        b"margin-right",
        b"margin-bottom",
        b"padding-top",
        b"padding-left",
        b"padding-right",
        b"padding-bottom",
        b"gap",
        b"border-bottom",
        b"border-top",
        b"border-left",
        b"border-right",
        b"border-color",
        b"background-image",
        b"background-position",
        b"flex-direction",
        b"flex-wrap",
        b"letter-spacing",
        b"zoom",
        b"filter",
        b"clip",
        b"quotes",
        b"size",
        b"page-break-after",
        b"pointer-events",
        b"user-select",
        b"text-transform",
        b"font-style",
        b"border-collapse",
        b"grid-area",
        b"object-fit",
    ];
    let first = head.split(|byte| *byte == b'{').next().unwrap_or_default();
    // Programs have parentheses and assignments before their first brace; selectors hardly do.
    let before = first.rsplit(|byte| matches!(byte, b'}' | b';' | b'/')).next().unwrap_or_default();
    if before.len() == head.len() || before.contains(&b'=') && !before.contains(&b'[') || before.contains(&b'$') {
        return;
    }
    let (mut known, mut nested, mut depth) = (0_u32, 0_u32, 0_u32);
    let mut comment = false;
    for part in head.split_inclusive(|byte| matches!(byte, b'{' | b'}' | b';')) {
        let mut text = part.get(..part.len().saturating_sub(1)).unwrap_or_default().trim_ascii();
        if comment || text.starts_with(b"/*") {
            match find(text, b"*/") {
                Some(at) => {
                    comment = false;
                    text = text.get(at.saturating_add(2)..).unwrap_or_default().trim_ascii();
                }
                None => {
                    comment = true;
                    continue;
                }
            }
        }
        let declares = depth > 0 && !part.ends_with(b"{");
        if let (true, Some(colon)) = (declares, memchr::memchr(b':', text)) {
            let property = text.get(..colon).unwrap_or_default().trim_ascii();
            let plain =
                property.strip_prefix(b"-webkit-").or_else(|| property.strip_prefix(b"-moz-")).unwrap_or(property);
            let quoted = text.get(colon.saturating_add(1)..).unwrap_or_default().trim_ascii();
            let is_known = PROPERTIES.iter().any(|name| name.eq_ignore_ascii_case(plain))
                || property.starts_with(b"--")
                || property.starts_with(b"-webkit-");
            known = known.saturating_add(u32::from(is_known && !quoted.is_empty() && !quoted.starts_with(b"function")));
        }
        match part.last() {
            Some(b'{') => {
                nested =
                    nested.saturating_add(u32::from(depth > 0 && (text.starts_with(b"&") || text.starts_with(b"."))));
                depth = depth.saturating_add(1);
            }
            Some(b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let rules = [
        &b"@import url("[..],
        b"@import \"",
        b"@import '",
        b"@media ",
        b"@font-face",
        b"@charset ",
        b"@keyframes",
        b"@supports",
        b"@page",
        b"@tailwind ",
        b"@layer ",
    ];
    let starts = rules.iter().any(|rule| head.trim_ascii_start().starts_with(rule));
    scores.add("css", u32::from(starts).saturating_mul(4).saturating_add(known.saturating_mul(4).min(40)));
    scores.add("various", nested.saturating_mul(8).min(48));
}

/// Dockerfiles and makefiles.
fn build_files(head: &[u8], scores: &mut Scores) {
    const INSTRUCTIONS: &[&[u8]] = &[
        b"RUN",
        b"COPY",
        b"ADD",
        b"CMD",
        b"ENTRYPOINT",
        b"WORKDIR",
        b"ENV",
        b"EXPOSE",
        b"ARG",
        b"LABEL",
        b"USER",
        b"VOLUME",
        b"MAINTAINER",
        b"HEALTHCHECK",
        b"SHELL",
        b"ONBUILD",
        b"STOPSIGNAL",
    ];
    let (mut from, mut instructions, mut targets, mut recipes, mut settings) = (0_u32, 0_u32, 0_u32, 0_u32, 0_u32);
    let mut in_rule = false;
    let mut first = true;
    let mut continued = false;
    for line in super::lines(head).take(super::LINES) {
        let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let was_continued = continued;
        continued = line.ends_with(b"\\");
        if line.starts_with(b"#") || line.trim_ascii().is_empty() {
            continue;
        }
        if was_continued {
            continue;
        }
        if word.eq_ignore_ascii_case(b"FROM") && word.len() < line.len() && (word == b"FROM" || first) {
            let image = line.get(5..).unwrap_or_default().trim_ascii();
            let words = image.split(|byte| *byte == b' ').count();
            let is_image = words <= 4
                && image.first().is_some_and(|byte| byte.is_ascii_lowercase() || b"$-".contains(byte))
                && !image.ends_with(b";")
                && !image.ends_with(b",");
            from = from.saturating_add(u32::from(is_image && (first || from > 0 || instructions > 0)));
        }
        instructions = instructions.saturating_add(u32::from(INSTRUCTIONS.contains(&word) && line.len() > word.len()));
        first = first && matches!(word, b"ARG");
        if line.starts_with(b"\t") {
            recipes = recipes.saturating_add(u32::from(in_rule));
        } else {
            in_rule = is_target(line);
            targets = targets.saturating_add(u32::from(in_rule));
            let shouted = |name: &[u8]| {
                !name.is_empty()
                    && name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
            };
            let set = find(line, b" := ").is_some()
                || find(line, b" ?= ").is_some()
                || find(line, b" += ").is_some()
                || find(line, b":=").is_some();
            let plain =
                memchr::memchr(b'=', line).and_then(|at| line.get(..at)).map(<[u8]>::trim_ascii).is_some_and(shouted);
            let uses = find(line, b"$(").is_some();
            settings = settings.saturating_add(u32::from(
                (set && (uses || line.split(|byte| *byte == b' ').next().is_some_and(shouted))) || (plain && uses),
            ));
            settings = settings.saturating_add(u32::from(
                [
                    &b"ifeq ("[..],
                    b"ifneq (",
                    b"ifdef ",
                    b"ifndef ",
                    b"include $(",
                    b"-include ",
                    b"endif",
                    b".PHONY",
                    b"include ../",
                    b".SUFFIXES",
                    b"export ",
                ]
                .iter()
                .any(|word| line.starts_with(word) && !word.starts_with(b"export")),
            ));
        }
    }
    if from > 0 && instructions > 0 {
        scores.add("dockerfile", instructions.saturating_add(from).saturating_mul(5));
    } else if from > 0 && head.len() < 200 && head.starts_with(b"FROM ") && find(head, b":").is_some() {
        scores.add("dockerfile", 4);
    }
    let phony = find(head, b".PHONY").is_some();
    if (targets > 0 && recipes > 0) || (phony && targets > 0) || settings >= 2 {
        scores.add(
            "makefile",
            targets
                .min(8)
                .saturating_mul(2)
                .saturating_add(recipes.min(10))
                .saturating_add(settings.saturating_mul(3))
                .saturating_add(u32::from(phony).saturating_mul(6))
                .saturating_add(2),
        );
    }
}

/// `name: prerequisites`, but not `name: value` of settings nor a label of a program.
fn is_target(line: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b':', line) else { return false };
    let (target, rest) =
        (line.get(..at).unwrap_or_default().trim_ascii_end(), line.get(at.saturating_add(1)..).unwrap_or_default());
    let plain = !target.is_empty()
        && target.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-./%$(){} *+".contains(byte))
        && !line.starts_with(b" ");
    plain && !rest.starts_with(b":") && !rest.contains(&b'"') && !rest.ends_with(b"{") && !rest.ends_with(b",")
}
