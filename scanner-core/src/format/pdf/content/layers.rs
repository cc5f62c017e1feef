//! Layers that are off, and marked content on them (ISO 32000-1 §8.11, §14.6).

use super::{Drawer, MOST_OPERANDS, strings};
use crate::format::pdf::object::{Dict, Object};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

impl<'d, 'a> Drawer<'d, 'a, '_> {
    /// Which layers are off when the document is opened (§8.11.4).
    pub(super) fn find_layers(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let Some(root) = document.root().or_else(|| document.some_root()) else { return Ok(()) };
        let Some(layers) = document.get(root, "OCProperties").dict() else { return Ok(()) };
        let Some(usual) = document.get(layers, "D").dict() else { return Ok(()) };
        let list = |dict: &'d Dict<'a>, key| document.get(dict, key).array().unwrap_or_default();
        let (all, off, on) = (list(layers, "OCGs"), list(usual, "OFF"), list(usual, "ON"));
        let lengths = [all, off, on].iter().map(|list| count(list.len())).fold(0, u64::saturating_add);
        budget.spend(Resource::Steps, lengths.saturating_mul(10))?;
        if document.get(usual, "BaseState").name() == Some(b"OFF") {
            self.off.extend(all.iter().filter_map(|layer| document.target(layer)));
            for layer in on.iter().filter_map(|layer| document.target(layer)) {
                self.off.remove(&layer);
            }
        }
        self.off.extend(off.iter().filter_map(|layer| document.target(layer)));
        self.are_layers_off = !self.off.is_empty();
        Ok(())
    }

    /// Whether a layer, or a set of layers by its policy, is off.
    pub(super) fn is_off(&mut self, layer: &'d Object<'a>) -> bool {
        if !self.are_layers_off {
            return false;
        }
        let place = std::ptr::from_ref(layer).addr();
        if let Some(known) = self.asked.get(&place) {
            return *known;
        }
        let is_off = self.ask(layer);
        self.asked.insert(place, is_off);
        is_off
    }

    pub(super) fn ask(&self, layer: &'d Object<'a>) -> bool {
        let document = self.document;
        let is_off = |layer: &Object<'a>| document.target(layer).is_some_and(|layer| self.off.contains(&layer));
        if is_off(layer) {
            return true;
        }
        let Some(set) = document.resolve(layer).dict().filter(|dict| dict.is("Type", "OCMD")) else { return false };
        let Some(members) = set.get("OCGs") else { return false };
        let one = std::slice::from_ref(members);
        let members = document.resolve(members).array().unwrap_or(one);
        let members = members.get(..MOST_OPERANDS).unwrap_or(members);
        if members.is_empty() {
            return false;
        }
        match document.get(set, "P").name() {
            Some(b"AllOn") => members.iter().any(is_off),
            Some(b"AnyOff") => !members.iter().any(is_off),
            Some(b"AllOff") => !members.iter().all(is_off),
            _ => members.iter().all(is_off),
        }
    }

    pub(super) fn push_layer(&mut self, is_off: bool) {
        self.layers.push(is_off);
        self.layers_off = self.layers_off.saturating_add(usize::from(is_off));
    }

    /// Ends marked content down to a depth.
    pub(super) fn drop_layers(&mut self, depth: usize) {
        let ended = self.layers.get(depth..).unwrap_or_default().iter().filter(|is_off| **is_off).count();
        self.layers_off = self.layers_off.saturating_sub(ended);
        self.layers.truncate(depth);
    }

    pub(super) fn is_off_here(&self) -> bool {
        self.is_orphan || self.is_hidden_note || self.layers_off > 0
    }

    /// Marked content: layers, and words that stand for what is drawn.
    pub(super) fn mark(&mut self, operands: &[Object<'_>]) {
        let is_layer = operands.first().and_then(Object::name) == Some(b"OC");
        let layer = if is_layer { self.resource("Properties", operands.get(1)) } else { None };
        let is_off = layer.is_some_and(|layer| self.is_off(layer));
        self.push_layer(is_off);
        let words = operands.get(1).and_then(Object::dict).and_then(|dict| dict.get("ActualText")?.string());
        if let Some(words) = words {
            self.spoken.push_str(&strings::decode(&words));
            // Letter by letter is what it mostly stands for.
            if words.len() > 8 {
                self.spoken.push('\n');
            }
        }
    }
}
