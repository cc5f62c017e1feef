//! Programs: scores for each language from tokens that tell it ([`cues`]) and from lines of a telling shape
//! ([`shape`]). Languages that nobody listed have scores too, so that their files are not called a neighbour's.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::lines;
use crate::sniff::peek::find;

mod build;
mod cues;
mod shape;
mod sql;
mod style;

/// Lines looked at.
const LINES: usize = 300;
/// Longest part of a line looked at: minified code is one line.
const LINE_BYTES: usize = 2000;
/// Bytes looked at, comments not counted.
const CODE_BYTES: usize = 8192;
/// How often one cue counts.
const HITS: u8 = 4;
/// What a language must reach.
const LEAST: u32 = 4;

/// The languages, listed first, then those that only keep the others honest.
const LANGUAGES: [&str; 29] = [
    "python",
    "javascript",
    "typescript",
    "shell",
    "batch",
    "powershell",
    "perl",
    "ruby",
    "php",
    "lua",
    "r",
    "sql",
    "css",
    "c",
    "java",
    "rust",
    "go",
    "dockerfile",
    "makefile",
    "csharp",
    "kotlin",
    "scala",
    "swift",
    "functional",
    "lisp",
    "basic",
    "numeric",
    "hardware",
    "various",
];
const LISTED: usize = 19;

/// Points of one language.
#[derive(Clone, Copy, Debug, Default)]
struct Points {
    all: u32,
    /// Of these, what came two at a time or more: words that prose has too are worth one.
    strong: u32,
}

/// Points of each language.
#[derive(Clone, Debug, Default)]
struct Scores([Points; LANGUAGES.len()]);

impl Scores {
    fn add(&mut self, language: &str, points: u32) {
        if let Some(score) = LANGUAGES.iter().position(|known| *known == language).and_then(|at| self.0.get_mut(at)) {
            score.all = score.all.saturating_add(points);
            score.strong = score.strong.saturating_add(if points > 1 { points } else { 0 });
        }
    }

    fn of(&self, language: &str) -> u32 {
        LANGUAGES.iter().position(|known| *known == language).and_then(|at| self.0.get(at)).map_or(0, |score| score.all)
    }
}

/// The language whose interpreter a script asks for.
pub(super) fn by_shebang(start: &[u8]) -> Option<&'static str> {
    let line = lines(start.strip_prefix(b"#!")?).next()?;
    let words = line.get(..LINE_BYTES).unwrap_or(line).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut words = words.map(|word| word.rsplit(|byte| *byte == b'/').next().unwrap_or_default());
    let mut program = words.next()?;
    // `#![allow(dead_code)]` is Rust; anything without a path is no interpreter.
    if !line.contains(&b'/') {
        return None;
    }
    if program == b"env" {
        program = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    }
    let name = program.get(..program.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count())?;
    Some(match name {
        b"sh" | b"bash" | b"zsh" | b"dash" | b"ksh" | b"ash" | b"fish" | b"csh" | b"tcsh" | b"busybox" | b"bats"
        | b"rbash" | b"openrc-run" => "shell",
        b"python" | b"pypy" | b"ipython" | b"pythonw" | b"uv" | b"jython" | b"sage" => "python",
        b"node" | b"nodejs" | b"bun" | b"qjs" | b"gjs" | b"d" | b"phantomjs" => "javascript",
        b"deno" | b"ts-node" | b"tsx" => "typescript",
        b"perl" => "perl",
        b"ruby" | b"rake" | b"jruby" | b"macruby" | b"rbx" => "ruby",
        b"php" => "php",
        b"lua" | b"luajit" | b"texlua" => "lua",
        b"Rscript" | b"r" | b"R" | b"littler" => "r",
        b"pwsh" | b"powershell" => "powershell",
        b"make" | b"gmake" => "makefile",
        b"rust-script" | b"cargo" => "rust",
        _ => "source-other",
    })
}

/// The language of the highest score.
pub(super) fn kind(start: &[u8]) -> Option<&'static str> {
    let mut scores = Scores::default();
    let mut hits = vec![0_u8; cues::CUES.len().saturating_add(cues::FOLDED.len())];
    let mut code = Code::default();
    // What a writer of documents would see: comments and strings of documentation left out.
    let mut written: Vec<&[u8]> = Vec::new();
    // Statements and blocks go over lines.
    let block = start.get(..CODE_BYTES).unwrap_or(start);
    sql::statements(block, &mut scores);
    style::style_sheet(block, &mut scores);
    build::build_files(block, &mut scores);
    for line in lines(start).take(LINES) {
        if code.bytes > CODE_BYTES {
            break;
        }
        let line = line.get(..LINE_BYTES).unwrap_or(line);
        let commented = code.until.is_some() && code.until != Some(b"```");
        let stripped = code.strip(line, &mut scores);
        if !(commented || stripped.is_none() && is_comment(line)) {
            written.push(line);
        }
        let Some(line) = stripped else { continue };
        read(line, &mut hits, &mut scores);
        shape::line(line, &mut scores);
    }
    decide(&scores, start, &code, &written)
}

/// Whether a line opens a comment or a string of documentation in a way that no document does.
fn is_comment(line: &[u8]) -> bool {
    const OPENINGS: &[&[u8]] = &[b"//", b"/*", b"* ", b"-- ", b"\"\"\"", b"'''", b"r\"\"\""];
    OPENINGS.iter().any(|mark| line.trim_ascii().starts_with(mark))
}

/// Adds what the tokens of a line tell.
fn read(line: &[u8], hits: &mut [u8], scores: &mut Scores) {
    static EXACT: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    static FOLDED: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = |cues: &[cues::Cue], fold: bool| {
        AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(fold)
            .build(cues.iter().map(|cue| cue.token))
            .ok()
    };
    let indent = line.len().saturating_sub(line.trim_ascii_start().len());
    let sets = [
        (EXACT.get_or_init(|| build(cues::CUES, false)), cues::CUES, 0),
        (FOLDED.get_or_init(|| build(cues::FOLDED, true)), cues::FOLDED, cues::CUES.len()),
    ];
    for (automaton, cues, base) in sets {
        let Some(automaton) = automaton else { continue };
        for found in automaton.find_overlapping_iter(line) {
            let index = found.pattern().as_usize();
            let (Some(cue), Some(hit)) = (cues.get(index), hits.get_mut(base.saturating_add(index))) else { continue };
            let before = found.start().checked_sub(1).and_then(|at| line.get(at));
            let after = line.get(found.end());
            let is_name = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            let starts_name = is_name(cue.token.as_bytes().first());
            let ends_name = is_name(cue.token.as_bytes().last());
            // "===" inside a line of them underlines a heading.
            let drawn = cue.token.as_bytes().last() == Some(&b'=') && (after == Some(&b'=') || before == Some(&b'='));
            let joined = (starts_name && is_name(before)) || (ends_name && is_name(after)) || drawn;
            let placed = match cue.place {
                cues::Place::Any => true,
                cues::Place::Start => found.start() == indent,
                cues::Place::Whole => found.start() == indent && line.trim_ascii_end().len() == found.end(),
                cues::Place::End => line.trim_ascii_end().len() == found.end(),
            };
            if !joined && placed && *hit < HITS {
                *hit = hit.saturating_add(1);
                scores.add(cue.language, cue.points);
            }
        }
    }
}

/// Tells code from comments, strings of documentation and fenced examples, line by line.
#[derive(Debug, Default)]
struct Code {
    /// What ends the comment or string that an earlier line began.
    until: Option<&'static [u8]>,
    bytes: usize,
    lines: u32,
    /// Lines that read as sentences.
    prose: u32,
    fences: u32,
    headings: u32,
}

impl Code {
    /// The line without comment; `None` when nothing is left. Comments themselves tell a little.
    fn strip<'a>(&mut self, line: &'a [u8], scores: &mut Scores) -> Option<&'a [u8]> {
        let trimmed = line.trim_ascii();
        if let Some(end) = self.until {
            let at = find(trimmed, end)?;
            self.until = None;
            let rest = trimmed.get(at.checked_add(end.len())?..)?.trim_ascii();
            return (rest.len() > 3).then_some(rest);
        }
        if line.starts_with(b"```") || line.starts_with(b"~~~~") {
            self.fences = self.fences.saturating_add(1);
            self.until = trimmed.get(3..).is_none_or(|rest| find(rest, b"```").is_none()).then_some(b"```");
            return None;
        }
        let ends_later = |open: &[u8], end: &'static [u8]| {
            let rest = trimmed.get(open.len()..).unwrap_or_default();
            find(rest, end).is_none().then_some(end)
        };
        if trimmed.starts_with(b"/*") {
            self.until = ends_later(b"/*", b"*/");
            let after =
                find(trimmed, b"*/").and_then(|at| trimmed.get(at.checked_add(2)?..)).unwrap_or_default().trim_ascii();
            return (after.len() > 3).then_some(after);
        }
        for quotes in [&b"\"\"\""[..], b"'''"] {
            if trimmed.starts_with(quotes) || trimmed.starts_with(b"r\"\"\"") {
                scores.add("python", 1);
                self.until = ends_later(quotes, if quotes == b"'''" { b"'''" } else { b"\"\"\"" });
                return None;
            }
        }
        for (open, end, language) in [
            (&b"<#"[..], &b"#>"[..], "powershell"),
            (b"--[[", b"]]", "lua"),
            (b"--[=", b"]=", "lua"),
            (b"=begin", b"=end", "ruby"),
            (b"=head", b"=cut", "perl"),
            (b"=pod", b"=cut", "perl"),
            (b"{-", b"-}", "functional"),
            (b"(*", b"*)", "functional"),
            (b"#=", b"=#", "numeric"),
            (b"%{", b"%}", "numeric"),
        ] {
            if trimmed.starts_with(open) {
                scores.add(language, 3);
                self.until = ends_later(open, end);
                return None;
            }
        }
        if let Some(rest) = trimmed.strip_prefix(b"//") {
            scores.add("rust", u32::from(rest.starts_with(b"!") && rest.get(1) != Some(&b'/')).saturating_mul(2));
            scores.add("csharp", u32::from(rest.starts_with(b"/ <")).saturating_mul(3));
            return None;
        }
        if trimmed.starts_with(b"#") {
            let kept = [
                &b"#include"[..],
                b"#define",
                b"#if",
                b"#endif",
                b"#pragma",
                b"#import",
                b"#undef",
                b"#else",
                b"#elif",
                b"#[",
                b"#![",
            ];
            if kept.iter().any(|word| trimmed.starts_with(word)) {
                return Some(line);
            }
            // `# include` and `# define`, as old C writes them, are rare; words behind a hash are not.
            scores.add("r", u32::from(trimmed.starts_with(b"#' ")).saturating_mul(2));
            scores.add("python", u32::from(find(trimmed, b"-*- coding").is_some()).saturating_mul(4));
            scores.add("ruby", u32::from(find(trimmed, b"frozen_string_literal").is_some()).saturating_mul(6));
            scores.add("dockerfile", u32::from(trimmed.starts_with(b"# syntax=docker")).saturating_mul(4));
            scores.add(
                "shell",
                u32::from(
                    trimmed.starts_with(b"# shellcheck")
                        || trimmed.starts_with(b"#compdef")
                        || trimmed.starts_with(b"# bash completion"),
                )
                .saturating_mul(5),
            );
            self.headings =
                self.headings.saturating_add(u32::from(line.starts_with(b"# ") || line.starts_with(b"## ")));
            return None;
        }
        if trimmed.starts_with(b"-- ")
            || trimmed.starts_with(b"--|")
            || trimmed.starts_with(b";;")
            || trimmed.starts_with(b"% ")
            || trimmed.starts_with(b"%%")
        {
            return None;
        }
        if trimmed.is_empty() || trimmed.starts_with(b"* ") || trimmed == b"*" {
            return None;
        }
        self.prose = self.prose.saturating_add(u32::from(is_prose(trimmed)));
        self.lines = self.lines.saturating_add(1);
        self.bytes = self.bytes.saturating_add(line.len());
        Some(line)
    }
}

/// Whether a line reads as a sentence: several words, little else than letters.
fn is_prose(line: &[u8]) -> bool {
    let words = line
        .split(|byte| *byte == b' ')
        .filter(|word| {
            word.len() > 1
                && word.iter().all(|byte| byte.is_ascii_alphabetic() || b",.'-".contains(byte) || *byte >= 0x80)
        })
        .count();
    let all = line.split(|byte| *byte == b' ').count();
    let marked = line.iter().any(|byte| b"=(){}[];".contains(byte));
    all >= 5
        && !marked
        && words.saturating_mul(4) >= all.saturating_mul(3)
        && !matches!(line.last(), Some(b';' | b'{' | b'}'))
}

fn decide(scores: &Scores, start: &[u8], code: &Code, written: &[&[u8]]) -> Option<&'static str> {
    let mut scores = scores.clone();
    // TypeScript is JavaScript and more.
    let (js, ts) = (scores.of("javascript"), scores.of("typescript"));
    if ts >= 3 {
        scores.add("typescript", js);
    } else {
        scores.add("javascript", ts.min(2));
    }
    // Recipes of a makefile are shell.
    let recipes = scores.of("shell");
    if scores.of("makefile") >= 8 {
        scores.add("makefile", recipes);
    }
    let mut best = (0_usize, 0_u32);
    for (at, score) in scores.0.iter().enumerate() {
        if score.all > best.1 && score.strong > 0 {
            best = (at, score.all);
        }
    }
    let (at, score) = best;
    // Fenced examples and headings: what is outside the fences must be much code to be code.
    let fenced = code.fences.saturating_mul(6).saturating_add(if code.fences > 0 { code.headings } else { 0 });
    // Long prose holds a few telling words by accident.
    let needed = LEAST.max(code.lines / 14).max(if code.prose.saturating_mul(3) > code.lines {
        code.prose.saturating_mul(2)
    } else {
        0
    });
    if score < needed || score <= fenced {
        return None;
    }
    // A document about programs holds their words; a program's comments hold a document's marks.
    if super::notes::strength(written.iter().copied()) >= 6.max(score / 2) {
        return None;
    }
    if at >= LISTED {
        return Some("source-other");
    }
    let language = LANGUAGES.get(at).copied()?;
    if language == "javascript" && find(start, b"<template>").is_some() && find(start, b"<script").is_some() {
        return Some("html");
    }
    Some(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(by_shebang(text.as_bytes()).or_else(|| kind(text.as_bytes())), want, "{text}");
    }

    #[test]
    fn prose_with_key_words() {
        for prose in [
            "print this page for your records\nreturn to sender\n",
            "#include this in the list please\n",
            "function is a word; var too; class act.\n",
            "import duties rose last year\nfrom 2 to 3 percent\n",
            "select a card from the deck\n",
            "if you go, let me know\nwhile I wait\nfor you\n",
            "The price is < 5 and > 3; a<b is true.\n",
            "class action suits are filed\n",
            "use the package as it is\n",
            "set the table and echo the sentiment\ncall me\n",
            "From the start, run fast.\nCopy that.\n",
            "def leppard is a band\n",
            "local news: end of the road\n",
        ] {
            check(prose, None);
        }
    }

    #[test]
    fn one_line_is_enough_when_its_shape_is() {
        check("import os\n", Some("python"));
        check("const a = 1;\n", Some("javascript"));
        check("def f(n): return 1 if n<2 else n*f(n-1)\n", Some("python"));
        check("UPDATE t SET a=1 WHERE b IN (SELECT c FROM d);\n", Some("sql"));
        check("#!/bin/sh\n", Some("shell"));
        check("#! /usr/bin/env -S deno run\n", Some("typescript"));
    }

    #[test]
    fn unlisted_languages_are_no_neighbours() {
        check(
            "package a\n\nimport kotlin.math.max\n\nfun main() {\n    val x = 1\n    println(x)\n}\n",
            Some("source-other"),
        );
        check(
            "using System;\nnamespace A {\n  public class B {\n    public int C { get; set; }\n  }\n}\n",
            Some("source-other"),
        );
        check(
            "module Main where\nimport qualified Data.Map as M\nmain :: IO ()\nmain = putStrLn \"x\"\n",
            Some("source-other"),
        );
        check("(defun f (x)\n  (+ x 1))\n", Some("source-other"));
        check("defmodule A do\n  def f(x) do\n    x\n  end\nend\n", Some("source-other"));
    }
}
