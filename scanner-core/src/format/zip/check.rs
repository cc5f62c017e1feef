//! What the entries become when they are unpacked: names, links, devices, rights.

use std::collections::BTreeSet;

use super::{Archive, Closed, Entry, Kind, rules};
use crate::{
    finding::{Severity, Stop},
    format::{Out, names, path},
    inflate,
    limits::{Budget, Resource},
    reader::count,
    view::TextView,
};

/// Longest target of a link, in bytes (`PATH_MAX`).
const LONGEST_TARGET_BYTES: u64 = 4096;
/// Bits of the mode (`stat.h`).
const SETUID_OR_SETGID: u32 = 0o6000;
/// Folding and sorting a name, beside its bytes.
const STEPS_PER_NAME: u64 = 40;

impl Archive<'_> {
    /// Says what is wrong with each entry as something to be unpacked.
    pub(super) fn judge(&self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut comments = names::Names::default();
        let mut links = BTreeSet::new();
        for entry in &self.entries {
            for fault in &entry.faults {
                out.find(entry.finding(&rules::STRUCTURE, *fault));
            }
            for name in [Some(&entry.name), entry.other_name.as_ref()].into_iter().flatten() {
                path::judge(name, entry.span(), &entry.place(), out, budget)?;
            }
            if let Some(comment) = self.bytes.get(entry.comment.clone()) {
                comments.add(comment, entry.comment.start);
            }
            match entry.kind {
                Kind::Symlink => {
                    let is_through = path::goes_through(&entry.name, &links);
                    self.link(entry, is_through, out, budget)?;
                    links.insert(path::plain(&entry.name));
                }
                Kind::Device => out.find(entry.finding(&path::DEVICE, path::DEVICE.title.clone())),
                Kind::File if entry.mode & SETUID_OR_SETGID != 0 => {
                    out.find(entry.finding(&path::SPECIAL_MODE, path::SPECIAL_MODE.title.clone()));
                }
                Kind::File | Kind::Directory => {}
            }
        }
        comments.read("comments", out);
        self.through(&links, out, budget)?;
        self.twice(out, budget)
    }

    /// Where a symbolic link points: its content is the target.
    fn link(&self, entry: &Entry, is_through: bool, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let source = match self.source(entry) {
            Ok(source) if count(source.packed.len()) <= LONGEST_TARGET_BYTES => source,
            Ok(_) => {
                out.find(entry.finding(&path::SYMLINK, "a link whose target is longer than any path"));
                self.child(entry, out);
                return Ok(());
            }
            Err(closed) => {
                out.find(entry.finding(&path::SYMLINK, path::SYMLINK.title.clone()));
                // A link in the bytes of another member is said already.
                if closed != Closed::Shared {
                    self.close(closed, entry.at);
                }
                return Ok(());
            }
        };
        let unpacked = inflate::unpack(&source, budget);
        let target = String::from_utf8_lossy(&unpacked.bytes).into_owned();
        for (rule, what) in path::link_faults(&entry.name, &target) {
            out.find(entry.finding(rule, what).severity(Severity::High));
        }
        // Where a link through a link lies is not where its name says: two dots may lead anywhere.
        if is_through && path::climbs(&target) {
            out.find(entry.finding(&path::TRAVERSAL, "a link through a link that climbs"));
        }
        let escapes = path::leaves(&entry.name, &target);
        let severity = if escapes { Severity::High } else { path::SYMLINK.severity };
        let message = if escapes { "a link to what is not in the archive" } else { "a link inside the archive" };
        out.find(entry.finding(&path::SYMLINK, message).severity(severity));
        // Readers that know no links, Python's among them, write a file with what stands there.
        if target.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER) {
            self.child(entry, out);
        } else {
            out.read(TextView::beside(unpacked.bytes, "link target"));
        }
        unpacked.stop.map_or(Ok(()), Err)
    }

    /// Entries that would be written through a link of the same archive.
    fn through(&self, links: &BTreeSet<String>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        if links.is_empty() {
            return Ok(());
        }
        for entry in &self.entries {
            budget.spend(Resource::Steps, STEPS_PER_NAME.saturating_add(count(entry.name.len())))?;
            if path::goes_through(&entry.name, links) {
                let message = "it is written through a link of the same archive";
                out.find(entry.finding(&path::SYMLINK, message).severity(Severity::High));
            }
        }
        Ok(())
    }

    /// Names that are one to some file system: letters of either case, composed or not, with either slash.
    fn twice(&self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut folded = Vec::with_capacity(self.entries.len());
        for entry in self.entries.iter().filter(|entry| entry.kind != Kind::Directory) {
            budget.spend(Resource::Steps, STEPS_PER_NAME.saturating_add(count(entry.name.len())))?;
            folded.push((path::folded(&entry.name), entry));
        }
        folded.sort_by(|(left, first), (right, second)| left.cmp(right).then(first.number.cmp(&second.number)));
        for pair in folded.windows(2) {
            let [(first, one), (second, other)] = pair else { continue };
            if first != second {
                continue;
            }
            if one.raw == other.raw {
                out.find(other.finding(&rules::DUPLICATE, rules::DUPLICATE.title.clone()));
            } else {
                // Compilers of Java name classes so, and nobody unpacks them.
                let is_class = other.name.ends_with(".class");
                let severity = if is_class { Severity::Low } else { rules::DUPLICATE.severity };
                let message = "two names that are one where the case of letters or their composition does not count";
                out.find(other.finding(&rules::DUPLICATE, message).severity(severity));
            }
        }
        Ok(())
    }
}
