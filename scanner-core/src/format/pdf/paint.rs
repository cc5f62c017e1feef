//! What is painted on a page and what can be seen of it: places, colours, covers, and the words between them.

use std::collections::VecDeque;

use super::pages::crossing;
use super::rules;
use crate::finding::Rule;

/// Left, bottom, right, top.
pub(super) type Area = [f64; 4];
pub(super) type Color = [f64; 3];

/// Letters lower than that, in points, are not read by anybody; fine print begins at four.
const SMALLEST: f64 = 1.5;
/// Colours nearer to each other than that, of one, cannot be told apart on a screen.
const NEAR: f64 = 0.06;
/// Painted areas that are remembered: the latest.
const COVERS: usize = 256;
/// Runs of text kept until it is settled what can be seen of them.
pub(super) const MOST_RUNS: usize = 100_000;

/// A matrix as pages write it (§8.3.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) const fn shift(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// First this, then the other.
    pub(super) fn then(self, other: Self) -> Self {
        let (Self([a, b, c, d, e, f]), Self([g, h, i, j, k, l])) = (self, other);
        Self([a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l])
    }

    pub(super) fn point(self, x: f64, y: f64) -> (f64, f64) {
        let Self([a, b, c, d, e, f]) = self;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// The smallest upright area around a rectangle.
    pub(super) fn area(self, [left, bottom, right, top]: Area) -> Area {
        let mut area = EMPTY;
        for (x, y) in [(left, bottom), (right, bottom), (left, top), (right, top)] {
            let (x, y) = self.point(x, y);
            include(&mut area, x, y);
        }
        area
    }

    /// How much it enlarges.
    pub(super) fn scale(self) -> f64 {
        let Self([a, b, c, d, ..]) = self;
        (a * d - b * c).abs().sqrt()
    }

    /// Rectangles stay upright.
    pub(super) fn is_upright(self) -> bool {
        let Self([a, b, c, d, ..]) = self;
        (b == 0.0 && c == 0.0) || (a == 0.0 && d == 0.0)
    }
}

/// Nothing yet: every point makes it larger.
pub(super) const EMPTY: Area = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];

pub(super) fn include(area: &mut Area, x: f64, y: f64) {
    let [left, bottom, right, top] = *area;
    *area = [left.min(x), bottom.min(y), right.max(x), top.max(y)];
}

fn is_empty([left, bottom, right, top]: Area) -> bool {
    // Not `>=`: what is no number has no area either.
    !(left < right && bottom < top)
}

fn holds(outer: Area, inner: Area) -> bool {
    let ([a, b, c, d], [e, f, g, h]) = (outer, inner);
    // A hair's breadth of tolerance: boxes of letters are estimates.
    a <= e + 0.5 && b <= f + 0.5 && c >= g - 0.5 && d >= h - 0.5
}

fn is_near(one: Color, other: Color) -> bool {
    one.iter().zip(other).all(|(one, other)| (one - other).abs() < NEAR)
}

const WHITE: Color = [1.0; 3];

/// Something painted.
#[derive(Clone, Copy, Debug)]
struct Cover {
    area: Area,
    /// What it looks like, where that is known.
    color: Option<Color>,
    /// Nothing under it shows through, anywhere in its area.
    is_solid: bool,
    order: u64,
}

/// How a run of text is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    Seen,
    Color,
    Size,
    Off,
    Covered,
}

impl Sight {
    pub(super) const ALL: [(Self, Option<&'static Rule>); 5] = [
        (Self::Seen, None),
        (Self::Color, Some(&rules::HIDDEN_COLOR)),
        (Self::Size, Some(&rules::HIDDEN_SIZE)),
        (Self::Off, Some(&rules::HIDDEN_OFFPAGE)),
        (Self::Covered, Some(&rules::HIDDEN_COVERED)),
    ];
}

/// A run of text as it is painted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brush {
    /// From the text's own measure to the page.
    pub(super) matrix: Matrix,
    /// Height of letters on the page; nothing where it cannot be told.
    pub(super) height: Option<f64>,
    /// Length of the run in the text's own measure, and size of its font there.
    pub(super) length: f64,
    pub(super) size: f64,
    /// What shows at all: page and clip.
    pub(super) shown: Area,
    pub(super) color: Option<Color>,
    /// Painted without any ink.
    pub(super) is_clear: bool,
    /// On a layer that is off, or a page that nothing shows.
    pub(super) is_off: Option<Sight>,
}

#[derive(Debug)]
struct Run {
    from: usize,
    to: usize,
    sight: Sight,
    area: Area,
    start: (f64, f64),
    end: (f64, f64),
    size: f64,
    order: u64,
}

/// The words and covers of one page.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    /// The characters of all runs. Who shows some puts them at the end, and then says how they are painted.
    pub(super) text: String,
    runs: Vec<Run>,
    covers: VecDeque<Cover>,
    order: u64,
    /// Something dark or unknown was painted: dark letters may drown in it.
    has_dark: bool,
}

impl Canvas {
    /// An area is filled.
    pub(super) fn cover(&mut self, area: Area, color: Option<Color>, is_solid: bool) {
        if is_empty(area) {
            return;
        }
        self.order = self.order.saturating_add(1);
        self.has_dark |= color.is_none_or(|color| !is_near(color, WHITE));
        if self.covers.len() >= COVERS {
            self.covers.pop_front();
        }
        self.covers.push_back(Cover { area, color, is_solid, order: self.order });
    }

    /// The characters from there on are shown.
    // Called once for each operator: as a call, the brush goes through memory.
    #[inline]
    pub(super) fn run(&mut self, from: usize, brush: &Brush) {
        let to = self.text.len();
        if to == from {
            return;
        }
        let own = [0.0, -0.2 * brush.size, brush.length, 0.7 * brush.size];
        let area = brush.matrix.area(own);
        self.order = self.order.saturating_add(1);
        let sight = self.sight(brush, area);
        let run = Run {
            from,
            to,
            sight,
            area,
            start: brush.matrix.point(0.0, 0.0),
            end: brush.matrix.point(brush.length, 0.0),
            size: brush.size.abs() * brush.matrix.scale(),
            order: self.order,
        };
        self.runs.push(run);
    }

    fn sight(&self, brush: &Brush, area: Area) -> Sight {
        if let Some(sight) = brush.is_off {
            return sight;
        }
        if brush.height.is_some_and(|height| height < SMALLEST) {
            return Sight::Size;
        }
        // Half of a letter's width to every side: estimates must not hide what is there.
        if is_empty(crossing(brush.shown, area)) {
            return Sight::Off;
        }
        if brush.is_clear {
            return Sight::Color;
        }
        let Some(color) = brush.color else { return Sight::Seen };
        if !self.has_dark && !is_near(color, WHITE) {
            return Sight::Seen;
        }
        let [left, bottom, right, top] = area;
        let middle = ((left + right) / 2.0, (bottom + top) / 2.0);
        let under = self.covers.iter().rev().find(|cover| {
            let [left, bottom, right, top] = cover.area;
            left <= middle.0 && middle.0 <= right && bottom <= middle.1 && middle.1 <= top
        });
        let ground = match under {
            Some(Cover { color: None, .. }) => return Sight::Seen,
            Some(Cover { color: Some(ground), .. }) => *ground,
            None => WHITE,
        };
        if is_near(color, ground) { Sight::Color } else { Sight::Seen }
    }

    /// How much there is to settle.
    pub(super) fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Pairs of runs and covers that [`settle`](Self::settle) may compare.
    pub(super) fn pairs(&self) -> usize {
        let first = self.runs.first().map_or(u64::MAX, |run| run.order);
        let later = self.covers.iter().filter(|cover| cover.order > first && cover.is_solid).count();
        later.saturating_mul(self.runs.len())
    }

    /// The words of the page, for each way of being seen or hidden in which there are any. What is left is an empty page
    /// with room for the next.
    pub(super) fn settle(&mut self) -> Vec<(Option<&'static Rule>, String)> {
        // On most pages nothing is painted over words.
        let last = self.covers.iter().rev().find(|cover| cover.is_solid).map_or(0, |cover| cover.order);
        let before = self.runs.partition_point(|run| run.order < last);
        for run in self.runs.iter_mut().take(before).filter(|run| run.sight == Sight::Seen) {
            let mut later = self.covers.iter().rev().take_while(|cover| cover.order > run.order);
            if later.any(|cover| cover.is_solid && holds(cover.area, run.area)) {
                run.sight = Sight::Covered;
            }
        }
        let mut told = Sight::ALL.map(|(sight, rule)| (sight, rule, String::new(), None::<&Run>));
        // The first sight is mostly the only one: it gets room for all the words, and a gap before each run.
        let mut room = self.text.len().saturating_add(self.runs.len());
        for run in &self.runs {
            let Some((_, _, text, last)) = told.iter_mut().find(|(sight, ..)| *sight == run.sight) else { continue };
            match last.replace(run) {
                Some(last) => {
                    if let Some(gap) = gap(last, run) {
                        text.push(gap);
                    }
                }
                None => text.reserve(std::mem::take(&mut room)),
            }
            text.push_str(self.text.get(run.from..run.to).unwrap_or_default());
        }
        let told = told.into_iter().filter(|(_, _, text, _)| !text.trim().is_empty());
        let texts = told.map(|(_, rule, text, _)| (rule, text)).collect();
        self.text.clear();
        self.runs.clear();
        self.covers.clear();
        (self.order, self.has_dark) = (0, false);
        texts
    }
}

/// What stands between two runs: nothing, a blank, or a new line.
fn gap(last: &Run, next: &Run) -> Option<char> {
    let (dx, dy) = (last.end.0 - last.start.0, last.end.1 - last.start.1);
    let length = dx.hypot(dy);
    let (ux, uy) = if length > 0.0 { (dx / length, dy / length) } else { (1.0, 0.0) };
    let (gx, gy) = (next.start.0 - last.end.0, next.start.1 - last.end.1);
    let (along, across) = (gx * ux + gy * uy, (gx * uy - gy * ux).abs());
    let size = last.size.max(next.size).max(0.1);
    if across > size * 0.6 || along < -size * 2.0 {
        return Some('\n');
    }
    (along > size * 0.15).then_some(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Area = [0.0, 0.0, 600.0, 800.0];

    fn brush(x: f64, y: f64) -> Brush {
        Brush {
            matrix: Matrix::shift(x, y),
            height: Some(10.0),
            length: 50.0,
            size: 10.0,
            shown: PAGE,
            color: Some([0.0; 3]),
            is_clear: false,
            is_off: None,
        }
    }

    fn show(canvas: &mut Canvas, brush: &Brush, word: &str) {
        let from = canvas.text.len();
        canvas.text.push_str(word);
        canvas.run(from, brush);
    }

    fn hidden(canvas: &mut Canvas) -> Vec<(Option<&'static str>, String)> {
        canvas.settle().into_iter().map(|(rule, text)| (rule.map(|rule| &*rule.id), text)).collect()
    }

    #[test]
    fn words_are_put_together_by_place() {
        let mut canvas = Canvas::default();
        for (x, y, word) in [(10.0, 700.0, "one"), (60.0, 700.0, "two"), (115.0, 700.0, "three"), (10.0, 680.0, "four")]
        {
            show(&mut canvas, &brush(x, y), word);
        }
        assert_eq!(hidden(&mut canvas), [(None, "onetwo three\nfour".to_owned())]);
    }

    #[test]
    fn each_way_to_hide_is_seen() {
        let mut canvas = Canvas::default();
        show(&mut canvas, &Brush { color: Some([0.99; 3]), ..brush(0.0, 0.0) }, "white");
        show(&mut canvas, &Brush { is_clear: true, ..brush(0.0, 50.0) }, "clear");
        show(&mut canvas, &Brush { height: Some(1.0), ..brush(0.0, 0.0) }, "tiny");
        show(&mut canvas, &brush(-500.0, 0.0), "off");
        show(&mut canvas, &brush(100.0, 100.0), "under");
        show(&mut canvas, &brush(100.0, 300.0), "seen");
        canvas.cover([90.0, 90.0, 200.0, 120.0], Some([0.0; 3]), true);
        show(&mut canvas, &Brush { color: Some([1.0; 3]), ..brush(100.0, 100.0) }, "on black");
        let words = |id, text: &str| (id, text.to_owned());
        assert_eq!(
            hidden(&mut canvas),
            [
                words(None, "seen\non black"),
                words(Some("pdf/hidden-color"), "white\nclear"),
                words(Some("pdf/hidden-size"), "tiny"),
                words(Some("pdf/hidden-offpage"), "off"),
                words(Some("pdf/hidden-covered"), "under"),
            ]
        );
    }
}
