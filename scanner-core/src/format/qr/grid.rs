//! Three finder patterns that belong together, and the modules between them, read off the picture.

use super::{
    finder::Centre,
    grey::Dark,
    plane::{Point, Square, whole},
    symbol::{self, Symbol},
};
use crate::{
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// Steps of two patterns looked at beside a third.
const STEPS_PER_PAIR: u64 = 2;
/// Modules read off a picture in one step, and looked at for a pattern.
const MODULES_PER_STEP: usize = 2;
/// Sides of a code that differ by more are no sides of one code.
const LONGEST_SIDE: f64 = 1.5;
/// How far from a right angle a corner may look, as a cosine.
const SKEW: f64 = 0.4;
/// Modules between the middle of a finder pattern and the border of the code.
const INSET: f64 = 3.5;
/// Of a code that is there, so many of a hundred modules between the finder patterns alternate as they must.
const TIMING: usize = 75;
/// Modules of a side of the largest code.
const LARGEST: usize = 177;
/// Places of a module looked at where modules are counted.
const SAMPLES: usize = 4;

/// What a picture has of codes.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What codes say.
    pub(super) texts: Vec<Vec<u8>>,
    /// Codes that are there for certain and could not be read.
    pub(super) unread: u64,
}

/// Reads every code that three of these patterns are the corners of.
pub(super) fn read(dark: &Dark, centres: &[Centre], budget: &mut Budget) -> Result<Found, Exhausted> {
    let mut found = Found::default();
    let mut used = vec![false; centres.len()];
    let mut doubtful: Vec<[usize; 3]> = Vec::new();
    for (corner, centre) in centres.iter().enumerate() {
        budget.spend(Resource::Steps, count(centres.len()))?;
        // The nearest first: they belong together.
        let mut others: Vec<(f64, usize)> = centres
            .iter()
            .enumerate()
            .filter(|(other, candidate)| *other != corner && are_alike(centre, candidate))
            .map(|(other, candidate)| (centre.at.distance(candidate.at), other))
            .collect();
        others.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (near, (distance, one)) in others.iter().enumerate() {
            let farther = others.iter().skip(near.saturating_add(1));
            let pairs = farther.take_while(|(farther, _)| *farther <= *distance * LONGEST_SIDE);
            for (_, other) in pairs {
                if [corner, *one, *other].iter().any(|at| used.get(*at) != Some(&false)) {
                    continue;
                }
                budget.spend(Resource::Steps, STEPS_PER_PAIR)?;
                let (Some(first), Some(second)) = (centres.get(*one), centres.get(*other)) else { continue };
                match corners(dark, *centre, *first, *second, budget)? {
                    Outcome::Nothing => {}
                    Outcome::Unread => doubtful.push([corner, *one, *other]),
                    Outcome::Text(text) => {
                        for at in [corner, *one, *other] {
                            used.iter_mut().skip(at).take(1).for_each(|used| *used = true);
                        }
                        found.texts.push(text);
                    }
                }
            }
        }
    }
    for corners in doubtful {
        if corners.iter().all(|at| used.get(*at) == Some(&false)) {
            corners.iter().for_each(|at| used.iter_mut().skip(*at).take(1).for_each(|used| *used = true));
            found.unread = found.unread.saturating_add(1);
        }
    }
    Ok(found)
}

enum Outcome {
    /// No code.
    Nothing,
    /// A code, and too much of it is damaged.
    Unread,
    Text(Vec<u8>),
}

fn are_alike(one: &Centre, other: &Centre) -> bool {
    one.is_dark == other.is_dark && one.module < 2.0 * other.module && other.module < 2.0 * one.module
}

/// The code between three patterns, if they are its corners.
fn corners(dark: &Dark, corner: Centre, one: Centre, other: Centre, budget: &mut Budget) -> Result<Outcome, Exhausted> {
    let (to_one, to_other) = (one.at.minus(corner.at), other.at.minus(corner.at));
    let (lengths, cross) = (to_one.length() * to_other.length(), to_one.cross(to_other));
    if lengths < 1.0 || to_one.dot(to_other).abs() > SKEW * lengths {
        return Ok(Outcome::Nothing);
    }
    let (right, below) = if cross > 0.0 { (one, other) } else { (other, one) };
    let (across, down) = (right.at.minus(corner.at), below.at.minus(corner.at));
    let modules = |side: Point, far: &Centre| {
        // A line through a square that is turned is longer than its side.
        let straight = side.x.abs().max(side.y.abs()) / side.length();
        side.length() / (f64::midpoint(corner.module, far.module) * straight)
    };
    let size = f64::midpoint(modules(across, &right), modules(down, &below)) + 2.0 * INSET;
    let flat = Square::flat(corner.at, right.at, below.at);
    let Some(told) = whole(size + 0.5).filter(|size| *size < 2 * LARGEST) else { return Ok(Outcome::Nothing) };
    budget.spend(Resource::Steps, steps(told.saturating_mul(SAMPLES).saturating_mul(2)))?;
    let mut is_code = false;
    let [across, down] = [false, true].map(|is_down| counted(dark, &flat, size, is_down));
    for (at, size) in [across, down].into_iter().enumerate() {
        // Four modules more for each version.
        let version = size.saturating_sub(15) / 4;
        let is_likely =
            size.abs_diff(told) <= (told / 8).saturating_add(2) && (1..=symbol::VERSIONS).contains(&version);
        if !is_likely || at == 1 && across.saturating_sub(15) / 4 == version {
            continue;
        }
        let seen = Seen::new(dark, corner.is_dark, version);
        for square in [seen.aligned(&flat, budget)?, Some(flat)].into_iter().flatten() {
            budget.spend(Resource::Steps, steps(seen.size.saturating_mul(2)))?;
            if !seen.alternates(&square) {
                continue;
            }
            budget.spend(Resource::Steps, steps(seen.size.saturating_mul(seen.size)))?;
            match symbol::read(&seen.symbol(&square), budget)? {
                symbol::Outcome::Text(text) => return Ok(Outcome::Text(text)),
                symbol::Outcome::Damaged => is_code = true,
                symbol::Outcome::Nothing => {}
            }
        }
    }
    Ok(if is_code { Outcome::Unread } else { Outcome::Nothing })
}

/// How many modules a side has: along the line between two finder patterns each differs from the next, even where it is
/// seen from an angle (ISO/IEC 18004 §6.3.5).
fn counted(dark: &Dark, square: &Square, size: f64, is_down: bool) -> usize {
    let module = 1.0 / (size - 2.0 * INSET);
    // From the corner of one pattern to that of the next.
    let (from, to) = (3.0 * module, 1.0 - 3.0 * module);
    let samples = u32::try_from(whole(size).unwrap_or(0).saturating_mul(SAMPLES)).unwrap_or(0);
    let (mut changes, mut last) = (0_usize, None);
    for sample in 0..=samples {
        let along = from + (to - from) * f64::from(sample) / f64::from(samples.max(1));
        let point = if is_down { square.point(from, along) } else { square.point(along, from) };
        let Some(colour) = point.pixel().and_then(|(x, y)| dark.at(x, y)) else { return 0 };
        changes = changes.saturating_add(usize::from(last.is_some_and(|last| last != colour)));
        last = Some(colour);
    }
    changes.saturating_add(13)
}

fn steps(modules: usize) -> u64 {
    count(modules.div_ceil(MODULES_PER_STEP))
}

/// A picture in which a code of one version is looked for.
struct Seen<'a> {
    dark: &'a Dark,
    /// Modules that stand for one are dark; in an inverted code they are light.
    is_dark: bool,
    /// Modules of a side.
    size: usize,
    /// Modules between the middles of two finder patterns.
    between: f64,
}

impl<'a> Seen<'a> {
    fn new(dark: &'a Dark, is_dark: bool, version: usize) -> Self {
        let size = version.saturating_mul(4).saturating_add(17);
        let between = f64::from(u32::try_from(size).unwrap_or(0)) - 2.0 * INSET;
        Self { dark, is_dark, size, between }
    }

    /// The module at a place counted from the border of the code.
    fn module(&self, square: &Square, x: f64, y: f64) -> bool {
        let part = |at: f64| (at - INSET) / self.between;
        self.is_set(square.point(part(x), part(y)))
    }

    fn is_set(&self, point: Point) -> bool {
        point.pixel().and_then(|(x, y)| self.dark.at(x, y)) == Some(self.is_dark)
    }

    /// The lines between the finder patterns, in which every second module is set (ISO/IEC 18004 §6.3.5).
    fn alternates(&self, square: &Square) -> bool {
        let inner = || (8..self.size.saturating_sub(8)).map(|at| (at, middle(at)));
        let right = |line: &dyn Fn(f64) -> bool| {
            inner().filter(|(at, middle)| line(*middle) == at.is_multiple_of(2)).count().saturating_mul(100)
        };
        let enough = inner().count().saturating_mul(TIMING);
        right(&|at| self.module(square, at, 6.5)) >= enough && right(&|at| self.module(square, 6.5, at)) >= enough
    }

    /// The same square, through the alignment pattern nearest to its fourth corner (ISO/IEC 18004 §6.3.6): what is seen
    /// from an angle is flat no more.
    fn aligned(&self, flat: &Square, budget: &mut Budget) -> Result<Option<Square>, Exhausted> {
        if self.size < 25 {
            return Ok(None);
        }
        let part = (self.between - 3.0) / self.between;
        let expected = flat.point(part, part);
        let module = 1.0 / self.between;
        let corner = flat.point(0.0, 0.0);
        let (right, down) = (flat.point(module, 0.0).minus(corner), flat.point(0.0, module).minus(corner));
        // Half modules to each side: what is large is seen from nearby, and more askew.
        let reach = u32::try_from(self.size.div_ceil(6).max(8)).unwrap_or(8);
        let places = usize::try_from(reach).unwrap_or(0).saturating_mul(2).saturating_add(1);
        budget.spend(Resource::Steps, steps(places.saturating_mul(places).saturating_mul(25)))?;
        let halves = || (0..=reach.saturating_mul(2)).map(|at| (f64::from(at) - f64::from(reach)) / 2.0);
        let (mut best, mut sum, mut places) = (0, Point { x: 0.0, y: 0.0 }, 0.0);
        for y in halves() {
            for x in halves() {
                let middle = expected.plus(right.times(x)).plus(down.times(y));
                let likeness = self.likeness(middle, right, down);
                if likeness > best {
                    (best, sum, places) = (likeness, middle, 1.0);
                } else if likeness == best {
                    (sum, places) = (sum.plus(middle), places + 1.0);
                }
            }
        }
        // Of twenty-five modules three may be wrong.
        if best < 22 {
            return Ok(None);
        }
        Ok(flat.through(part, sum.times(1.0 / places)))
    }

    /// How many modules around a point are as in an alignment pattern: a square in a square.
    fn likeness(&self, middle: Point, right: Point, down: Point) -> usize {
        let offsets = [-2_i8, -1, 0, 1, 2];
        let modules = offsets.iter().flat_map(|y| offsets.iter().map(move |x| (*x, *y)));
        modules
            .filter(|(x, y)| {
                let should = x.unsigned_abs().max(y.unsigned_abs()) != 1;
                self.is_set(middle.plus(right.times((*x).into())).plus(down.times((*y).into()))) == should
            })
            .count()
    }

    fn symbol(&self, square: &Square) -> Symbol {
        Symbol::of(self.size, |x, y| self.module(square, middle(x), middle(y)))
    }
}

/// The middle of a module.
fn middle(at: usize) -> f64 {
    f64::from(u32::try_from(at).unwrap_or(0)) + 0.5
}
