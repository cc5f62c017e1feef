//! Finder patterns: the three squares in the corners of a code, which look the same from every side (ISO/IEC 18004 §6.3.3).

use super::{grey::Dark, plane::Point};
use crate::limits::{Budget, Exhausted, Resource};

/// Pixels walked over in one step.
const PIXELS_PER_STEP: usize = 4;
/// Known centres compared with a new one in one step.
const CENTRES_PER_STEP: usize = 8;
/// Rows in which a pattern must show: its heart is three modules high.
const FEWEST_ROWS: u32 = 2;

/// The middle of a finder pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centre {
    pub(super) at: Point,
    /// How far a line through the middle goes through one module, in pixels.
    pub(super) module: f64,
    /// The heart is dark; in an inverted code it is light.
    pub(super) is_dark: bool,
    /// Rows that met it.
    rows: u32,
}

/// Every finder pattern of a picture.
pub(super) fn find(dark: &Dark, budget: &mut Budget) -> Result<Vec<Centre>, Exhausted> {
    let mut centres: Vec<Centre> = Vec::new();
    for y in 0..dark.height {
        let row = dark.row(y);
        let mut colour = row.first().copied().unwrap_or(0);
        let (mut at, mut runs) = (0_usize, [0_usize; 5]);
        while at < row.len() {
            let rest = row.get(at..).unwrap_or_default();
            let run = memchr::memchr(colour ^ 1, rest).unwrap_or(rest.len());
            at = at.saturating_add(run);
            let [_, a, b, c, d] = runs;
            runs = [a, b, c, d, run];
            if is_pattern(runs) {
                let middle = at.saturating_sub(run).saturating_sub(d).saturating_sub(c.div_ceil(2));
                let width = runs.iter().sum::<usize>();
                budget.spend(Resource::Steps, steps(width.saturating_mul(4), PIXELS_PER_STEP))?;
                if let Some(centre) = confirm(dark, middle, y, width, colour == 1) {
                    budget.spend(Resource::Steps, steps(centres.len(), CENTRES_PER_STEP))?;
                    merge(&mut centres, centre);
                }
            }
            colour ^= 1;
        }
    }
    centres.retain(|centre| centre.rows >= FEWEST_ROWS);
    Ok(centres)
}

fn steps(work: usize, per_step: usize) -> u64 {
    crate::reader::count(work.checked_div(per_step).unwrap_or(work).saturating_add(1))
}

/// Whether five runs are as 1:1:3:1:1, each off by half a module at most.
fn is_pattern(runs: [usize; 5]) -> bool {
    let total = runs.iter().sum::<usize>();
    total >= 7
        && runs.iter().zip([1, 1, 3, 1, 1]).all(|(run, modules)| {
            let (is, should) = (run.saturating_mul(7), total.saturating_mul(modules));
            run > &0 && is.abs_diff(should).saturating_mul(2) <= should
        })
}

/// Looks at a pattern of a row from above, again from the side, and across: a centre is one from everywhere.
fn confirm(dark: &Dark, x: usize, y: usize, width: usize, is_dark: bool) -> Option<Centre> {
    let most = width;
    let (down, height) = cross(dark, (x, y), (0, 1), most, is_dark)?;
    if height > width.saturating_mul(2) || width > height.saturating_mul(2) {
        return None;
    }
    let y = shifted(y, down)?;
    let (right, width) = cross(dark, (x, y), (1, 0), most, is_dark)?;
    let x = shifted(x, right)?;
    cross(dark, (x, y), (1, 1), most, is_dark)?;
    let middle = |at: usize| Some(f64::from(u32::try_from(at).ok()?) + 0.5);
    let module = f64::from(u32::try_from(width.saturating_add(height)).ok()?) / 14.0;
    Some(Centre { at: Point { x: middle(x)?, y: middle(y)? }, module, is_dark, rows: 1 })
}

fn shifted(at: usize, by: isize) -> Option<usize> {
    at.checked_add_signed(by)
}

/// The pattern along a line through a pixel: how far its middle is from there, and its length; `None` when it is none.
fn cross(
    dark: &Dark,
    (x, y): (usize, usize),
    (dx, dy): (usize, usize),
    most: usize,
    is_dark: bool,
) -> Option<(isize, usize)> {
    // Forwards includes the pixel itself.
    let count = |is_forward: bool| -> Option<[usize; 3]> {
        let mut runs = [0_usize; 3];
        let mut distance = usize::from(!is_forward);
        for (index, run) in runs.iter_mut().enumerate() {
            let colour = is_dark == index.is_multiple_of(2);
            loop {
                let (right, down) = (dx.saturating_mul(distance), dy.saturating_mul(distance));
                let pixel = if is_forward {
                    dark.at(x.saturating_add(right), y.saturating_add(down))
                } else {
                    x.checked_sub(right).zip(y.checked_sub(down)).and_then(|(x, y)| dark.at(x, y))
                };
                if pixel != Some(colour) {
                    break;
                }
                (*run, distance) = (run.saturating_add(1), distance.saturating_add(1));
                if *run > most {
                    return None;
                }
            }
        }
        Some(runs)
    };
    let ([heart_after, ring_after, edge_after], [heart_before, ring_before, edge_before]) =
        (count(true)?, count(false)?);
    let heart = heart_after.saturating_add(heart_before);
    let runs = [edge_before, ring_before, heart, ring_after, edge_after];
    let middle = heart.checked_div(2)?.checked_signed_diff(heart_before)?;
    is_pattern(runs).then(|| (middle, runs.iter().sum()))
}

/// Adds a centre, or makes it one with that which is there already.
fn merge(centres: &mut Vec<Centre>, new: Centre) {
    let known = centres.iter_mut().rev().find(|known| {
        known.is_dark == new.is_dark
            && known.at.distance(new.at) < 2.0 * known.module
            && known.module < 2.0 * new.module
            && new.module < 2.0 * known.module
    });
    let Some(known) = known else { return centres.push(new) };
    let weight = f64::from(known.rows);
    let mean = |old: f64, new: f64| (old * weight + new) / (weight + 1.0);
    known.at = Point { x: mean(known.at.x, new.at.x), y: mean(known.at.y, new.at.y) };
    known.module = mean(known.module, new.module);
    known.rows = known.rows.saturating_add(1);
}
