//! Which part of a picture uses which, and how often each would be drawn.

use std::collections::HashMap;

use memchr::memmem;

use crate::{
    finding::{Rule, Severity},
    format::{
        Out,
        markup::{element::Element, judge::Judge},
    },
};

/// A part that has an id, or the picture itself.
#[derive(Debug, Default)]
struct Part {
    /// Elements of its own.
    own: u64,
    /// Parts that it draws, by name.
    uses: Vec<Vec<u8>>,
    /// Parts inside of it, by position.
    inside: Vec<usize>,
    /// Where it stands.
    at: usize,
}

/// All parts.
#[derive(Debug, Default)]
pub(super) struct Graph {
    parts: Vec<Part>,
    names: HashMap<Vec<u8>, usize>,
    /// The parts that are open, with the depth of each.
    open: Vec<(usize, usize)>,
}

impl Graph {
    pub(super) fn open(&mut self, element: &Element<'_>, depth: usize) {
        if self.parts.is_empty() {
            self.parts.push(Part::default());
            self.open.push((0, 0));
        }
        let outer = self.open.last().map_or(0, |(part, _)| *part);
        let mut current = outer;
        if let Some(id) = element.value(b"id").filter(|id| !id.is_empty() && depth > 0) {
            current = self.parts.len();
            self.parts.push(Part { at: element.whole.start, ..Part::default() });
            // The first of a name counts.
            self.names.entry(id.to_vec()).or_insert(current);
            if let Some(outer) = self.parts.get_mut(outer) {
                outer.inside.push(current);
            }
            self.open.push((current, depth));
        }
        let Some(part) = self.parts.get_mut(current) else { return };
        part.own = part.own.saturating_add(1);
        let is_used = matches!(
            &*element.name,
            b"use" | b"pattern" | b"lineargradient" | b"radialgradient" | b"filter" | b"mask" | b"tref" | b"feimage" | b"textpath"
        );
        for property in &element.properties {
            let value = property.value.trim_ascii();
            if property.name == b"href" {
                if let Some(name) = value.strip_prefix(b"#").filter(|_| is_used) {
                    part.uses.push(name.to_vec());
                }
                continue;
            }
            for start in memmem::find_iter(value, b"url(") {
                let inside = value.get(start.saturating_add(4)..).unwrap_or_default().trim_ascii_start();
                let inside = inside.strip_prefix(b"'").or_else(|| inside.strip_prefix(b"\"")).unwrap_or(inside);
                let Some(name) = inside.strip_prefix(b"#") else { continue };
                let end = name.iter().position(|byte| matches!(byte, b')' | b'"' | b'\'' | b' '));
                part.uses.push(name.get(..end.unwrap_or(0)).unwrap_or_default().to_vec());
            }
        }
    }

    /// The element at that depth is closed.
    pub(super) fn close(&mut self, depth: usize) {
        while self.open.last().is_some_and(|(_, own)| *own >= depth && *own > 0) {
            self.open.pop();
        }
    }

    /// Tells a circle, or more drawn than `most`.
    pub(super) fn settle(self, most: u64, judge: &mut Judge<'_>, rule: &'static Rule, out: &mut Out<'_>) {
        let Self { parts, names, .. } = self;
        let mut sizes: Vec<Option<u64>> = vec![None; parts.len()];
        let mut is_open = vec![false; parts.len()];
        let mut circle = None;
        let mut path: Vec<(usize, usize)> = if parts.is_empty() { Vec::new() } else { vec![(0, 0)] };
        let child = |part: &Part, at: usize| match part.inside.get(at) {
            Some(inside) => Some(Some(*inside)),
            None => part.uses.get(at.saturating_sub(part.inside.len())).map(|name| names.get(name).copied()),
        };
        while let Some((index, next)) = path.last_mut() {
            let index = *index;
            let Some(part) = parts.get(index) else { break };
            if sizes.get(index).is_some_and(Option::is_some) {
                path.pop();
                continue;
            }
            if let Some(open) = is_open.get_mut(index) {
                *open = true;
            }
            if let Some(used) = child(part, *next) {
                *next = next.saturating_add(1);
                match used {
                    Some(used) if is_open.get(used).copied().unwrap_or(false) => circle = circle.or(Some(part.at)),
                    Some(used) => path.push((used, 0)),
                    None => {}
                }
                continue;
            }
            let all = (0..part.inside.len().saturating_add(part.uses.len())).filter_map(|at| child(part, at).flatten());
            let size = all.fold(part.own, |size, used| {
                size.saturating_add(sizes.get(used).copied().flatten().unwrap_or(0))
            });
            if let Some(slot) = sizes.get_mut(index) {
                *slot = Some(size);
            }
            if let Some(open) = is_open.get_mut(index) {
                *open = false;
            }
            path.pop();
        }
        let drawn = sizes.first().copied().flatten().unwrap_or(0);
        if drawn > most {
            judge.tell(rule, 0..0, &format!("the picture would draw {drawn} elements"), out);
        } else if let Some(at) = circle {
            judge.tell_as(rule, Severity::Medium, at..at, "a part of the picture uses itself", out);
        }
    }
}
