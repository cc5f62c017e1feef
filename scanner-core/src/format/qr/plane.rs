//! Points of a picture, and a square seen from somewhere.

/// A point of a picture, or a way between two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Point {
    pub(super) fn distance(self, other: Self) -> f64 {
        other.minus(self).length()
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }

    pub(super) fn times(self, by: f64) -> Self {
        Self { x: self.x * by, y: self.y * by }
    }

    pub(super) fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    pub(super) fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y
    }

    /// Positive when the other is to the right of this, in a picture whose rows go down.
    pub(super) fn cross(self, other: Self) -> f64 {
        self.x * other.y - self.y * other.x
    }

    /// The pixel it is in; `None` left of the picture or above it.
    pub(super) fn pixel(self) -> Option<(usize, usize)> {
        Some((whole(self.x)?, whole(self.y)?))
    }
}

/// The pixel that a coordinate is in.
#[expect(clippy::as_conversions, reason = "there is no other way from a float; what does not fit is filtered before")]
pub(super) fn whole(coordinate: f64) -> Option<usize> {
    (0.0..1e6).contains(&coordinate).then_some(coordinate as usize)
}

/// A square in a picture: from parts of its sides to points. Seen from an angle, what is farther away is smaller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Square {
    corner: Point,
    right: Point,
    below: Point,
    /// How much smaller it becomes to the right and downwards.
    fading: Point,
}

impl Square {
    /// A square of which three corners are known, seen from straight above.
    pub(super) fn flat(corner: Point, right: Point, below: Point) -> Self {
        Self { corner, right, below, fading: Point { x: 0.0, y: 0.0 } }
    }

    /// The same three corners, and where a point on the diagonal stands: `part` of the way down.
    pub(super) fn through(self, part: f64, point: Point) -> Option<Self> {
        // Of (corner + s (right (1 + g) - corner) + t (below (1 + h) - corner)) / (1 + g s + h t), s and t being the
        // part, two equations in g and h.
        let (to_right, to_below) = (point.minus(self.right).times(part), point.minus(self.below).times(part));
        let flat = self.flat_point(part, part).minus(point);
        let determinant = to_right.cross(to_below);
        if determinant.abs() < 1e-6 {
            return None;
        }
        let fading = Point { x: flat.cross(to_below) / determinant, y: to_right.cross(flat) / determinant };
        // Beyond that no camera reads it.
        (fading.x.abs() < 0.8 && fading.y.abs() < 0.8).then_some(Self { fading, ..self })
    }

    /// The point that parts of the way right and down lead to.
    pub(super) fn point(&self, right: f64, down: f64) -> Point {
        let Point { x, y } = self.fading;
        let depth = 1.0 + x * right + y * down;
        let nearer = Self { right: self.right.times(1.0 + x), below: self.below.times(1.0 + y), ..*self };
        nearer.flat_point(right, down).times(1.0 / depth)
    }

    /// The same, seen from straight above.
    fn flat_point(&self, right: f64, down: f64) -> Point {
        let along = self.right.minus(self.corner).times(right);
        self.corner.plus(along).plus(self.below.minus(self.corner).times(down))
    }
}
