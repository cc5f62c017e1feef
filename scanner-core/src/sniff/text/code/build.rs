//! Dockerfiles and makefiles.

use super::Scores;
use crate::sniff::peek::find;

/// Adds what instructions, targets, recipes and settings tell.
pub(super) fn build_files(head: &[u8], scores: &mut Scores) {
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
            // Prose is indented by tabs too, but commands begin in lower case or with a mark.
            let command = line.get(1).is_some_and(|first| first.is_ascii_lowercase() || b"@-+$./[({\\".contains(first));
            recipes = recipes.saturating_add(u32::from(in_rule && command));
            in_rule = in_rule && command;
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
            let set = set || find(line, b" = $(").is_some();
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
    } else if from > 0
        && head.starts_with(b"FROM ")
        && (head.len() < 64 && !head.trim_ascii_end().contains(&b'\n')
            || head.len() < 200 && find(head, b":").is_some())
    {
        scores.add("dockerfile", 4);
    }
    let phony = find(head, b".PHONY").is_some();
    if (targets > 0 && (recipes > 0 || phony)) || settings >= 2 {
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
    let words = target.split(|byte| *byte == b' ').count();
    let sentence = rest.trim_ascii_end().ends_with(b".")
        || rest.windows(2).any(|pair| matches!(pair, [b',' | b'.' | b';' | b'?', b' ']));
    plain
        && words <= 4
        && !sentence
        && !rest.starts_with(b":")
        && !rest.contains(&b'"')
        && !rest.ends_with(b"{")
        && !rest.ends_with(b",")
}
