//! What one scan may spend ([`Limits`]) and what is left of it ([`Budget`]).
//!
//! There is one budget per scan, handed `&mut` down every path, so nesting cannot multiply a cap. It is spent
//! *before* the work. A refused amount is not counted: what a scan spent is exactly what it needs.

use std::fmt;

/// Everything that has a limit. The name ([`Resource::name`]) is the key of `limits` and `spent` in a verdict
/// and the second half of a `limit:<name>` gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Resource {
    /// Bytes of the input as it came through the door.
    EnvelopeBytes,
    /// Bytes of the largest single artifact.
    ArtifactBytes,
    /// Bytes that decompression may produce, all artifacts together. Never all in memory at once.
    UnpackedBytes,
    /// Output divided by input of one compressed member, for members above 1 MiB of output.
    Ratio,
    /// Artifacts in the scan. An empty member is an entry, not an artifact.
    Artifacts,
    /// Nesting: an artifact given by the caller has depth 0, a member of an archive in it depth 1.
    Depth,
    /// Entries listed in archives, all together.
    Entries,
    /// Bytes of text read by the rules.
    TextBytes,
    /// Bytes of text produced by decoding (charsets, escapes, base64, …).
    DecodedBytes,
    /// Bytes of text produced by normalising (one U+FDFA is 18 characters).
    NormalizedBytes,
    /// Pixels of all pictures together, frames counted.
    Pixels,
    /// Pixels looked through for QR codes, all pictures together; at zero nobody looks for any.
    CodePixels,
    /// Pixels handed on to be read by an engine that knows letters, all pictures together; at zero none are.
    LetterPixels,
    /// The longer side of the largest picture.
    Side,
    /// Frames of animations, all together.
    Frames,
    /// Small things that formats are made of: chunks, JSON values, PDF objects.
    Objects,
    /// Units of work, about ten nanoseconds each: the CPU cap that makes verdicts repeatable.
    Steps,
    /// Findings kept, worst first. The rest is counted in `totals`; never a gap.
    Findings,
    /// Seconds of CPU of the worker process. The kernel's word, ends as the gap `timeout`.
    Cpu,
    /// Seconds on the clock for the worker process. Ends as the gap `timeout`.
    Wall,
    /// Bytes of address space of the worker process. Ends as the gap `limit:memory`.
    Memory,
}

const MIB: u64 = 1024 * 1024;

impl Resource {
    /// Every resource, in the order in which verdicts list them.
    pub const ALL: [Self; 21] = [
        Self::EnvelopeBytes,
        Self::ArtifactBytes,
        Self::UnpackedBytes,
        Self::Ratio,
        Self::Artifacts,
        Self::Depth,
        Self::Entries,
        Self::TextBytes,
        Self::DecodedBytes,
        Self::NormalizedBytes,
        Self::Pixels,
        Self::CodePixels,
        Self::LetterPixels,
        Self::Side,
        Self::Frames,
        Self::Objects,
        Self::Steps,
        Self::Findings,
        Self::Cpu,
        Self::Wall,
        Self::Memory,
    ];

    /// The name used in `limits`, `spent`, `--limit` and gaps.
    pub const fn name(self) -> &'static str {
        self.entry().0
    }

    /// The default limit, in the unit of the resource.
    pub const fn default_limit(self) -> u64 {
        self.entry().1
    }

    /// Whether the worker process is held to it from outside. The core neither spends nor reports these.
    pub const fn is_of_process(self) -> bool {
        matches!(self, Self::Cpu | Self::Wall | Self::Memory)
    }

    /// The resource of that name, if there is one.
    ///
    /// ```
    /// use scanner_core::Resource;
    /// assert_eq!(Resource::named("depth"), Some(Resource::Depth));
    /// assert_eq!(Resource::named("deph"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|resource| resource.name() == name)
    }

    /// Name and default, each with its reason.
    const fn entry(self) -> (&'static str, u64) {
        match self {
            // The door: above what the providers return inline, below what would hurt a small container.
            Self::EnvelopeBytes => ("envelope_bytes", 64 * MIB),
            Self::ArtifactBytes => ("artifact_bytes", 64 * MIB),
            // Four times the door: an honest archive of logs; a bomb is far beyond it.
            Self::UnpackedBytes => ("unpacked_bytes", 256 * MIB),
            // deflate ends near 1032:1; honest logs and bitmaps above 1 MiB stay below 200.
            Self::Ratio => ("ratio", 200),
            Self::Artifacts => ("artifacts", 5_000),
            // tar.gz in a zip in a mail in an envelope, and two to spare.
            Self::Depth => ("depth", 6),
            Self::Entries => ("entries", 10_000),
            Self::TextBytes => ("text_bytes", 64 * MIB),
            // Nested encodings grow at most about four times before they stop being text (PERFORMANCE, growth).
            Self::DecodedBytes => ("decoded_bytes", 256 * MIB),
            Self::NormalizedBytes => ("normalized_bytes", 256 * MIB),
            // A tall screenshot of a page is honest: 65,535 × 1,000.
            Self::Pixels => ("pixels", 67_108_864),
            // Unpacking pixels costs several times all else that is asked of a picture: whoever wants it says so.
            Self::CodePixels => ("code_pixels", 0),
            // A second for a million of them, in a program that not everybody has: whoever wants it says so.
            Self::LetterPixels => ("letter_pixels", 0),
            Self::Side => ("side", 65_535),
            Self::Frames => ("frames", 500),
            Self::Objects => ("objects", 200_000),
            // One to three seconds of one core: honest work costs ten nanoseconds a step, the worst deflate 27.
            Self::Steps => ("steps", 100_000_000),
            Self::Findings => ("findings", 1_000),
            Self::Cpu => ("cpu", 5),
            Self::Wall => ("wall", 10),
            Self::Memory => ("memory", 512 * MIB),
        }
    }

    #[expect(clippy::as_conversions, reason = "an enum without fields to its own position")]
    const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One number per [`Resource`]: what is allowed, or what was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    values: [u64; Resource::ALL.len()],
}

impl Default for Limits {
    fn default() -> Self {
        let mut limits = Self::NOTHING;
        for resource in Resource::ALL {
            limits.set(resource, resource.default_limit());
        }
        limits
    }
}

impl Limits {
    /// Zero of everything.
    pub const NOTHING: Self = Self { values: [0; Resource::ALL.len()] };

    /// The same limits with one of them changed.
    ///
    /// ```
    /// use scanner_core::{Limits, Resource};
    /// let limits = Limits::default().with(Resource::Depth, 2);
    /// assert_eq!(limits.get(Resource::Depth), 2);
    /// ```
    #[must_use]
    pub fn with(mut self, resource: Resource, value: u64) -> Self {
        self.set(resource, value);
        self
    }

    /// The value for one resource.
    pub fn get(&self, resource: Resource) -> u64 {
        self.values.get(resource.index()).copied().unwrap_or(0)
    }

    fn set(&mut self, resource: Resource, value: u64) {
        if let Some(slot) = self.values.get_mut(resource.index()) {
            *slot = value;
        }
    }
}

/// The budget of that resource does not cover what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted(pub Resource);

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limit:{}", self.0)
    }
}

/// What is left of the limits of one scan.
#[derive(Clone, Debug)]
pub struct Budget {
    limits: Limits,
    spent: Limits,
}

impl Budget {
    /// A fresh budget: nothing is spent.
    pub fn new(limits: Limits) -> Self {
        Self { limits, spent: Limits::NOTHING }
    }

    /// Takes `amount` of a resource, before the work that needs it.
    ///
    /// # Errors
    /// [`Exhausted`] when less than `amount` is left; nothing is taken then.
    ///
    /// ```
    /// use scanner_core::{Budget, Exhausted, Limits, Resource};
    /// let mut budget = Budget::new(Limits::default().with(Resource::Objects, 3));
    /// assert_eq!(budget.spend(Resource::Objects, 3), Ok(()));
    /// assert_eq!(budget.spend(Resource::Objects, 1), Err(Exhausted(Resource::Objects)));
    /// ```
    pub fn spend(&mut self, resource: Resource, amount: u64) -> Result<(), Exhausted> {
        let total = self.spent.get(resource).checked_add(amount).ok_or(Exhausted(resource))?;
        if total > self.limits.get(resource) {
            return Err(Exhausted(resource));
        }
        self.spent.set(resource, total);
        Ok(())
    }

    /// Notes that a level is reached, for resources whose largest value counts: depth, sizes, sides, ratios.
    ///
    /// # Errors
    /// [`Exhausted`] when `level` is above the limit; it is not noted then.
    pub fn reach(&mut self, resource: Resource, level: u64) -> Result<(), Exhausted> {
        if level > self.limits.get(resource) {
            return Err(Exhausted(resource));
        }
        if level > self.spent.get(resource) {
            self.spent.set(resource, level);
        }
        Ok(())
    }

    /// How much [`spend`](Self::spend) would still give.
    pub fn left(&self, resource: Resource) -> u64 {
        self.limits.get(resource).saturating_sub(self.spent.get(resource))
    }

    /// What was allowed at the start.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What has been spent, or the highest level reached.
    pub fn spent(&self) -> &Limits {
        &self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_order_is_the_index() {
        for (index, resource) in Resource::ALL.into_iter().enumerate() {
            assert_eq!(resource.index(), index);
            assert_eq!(Resource::named(resource.name()), Some(resource));
        }
    }

    #[test]
    fn defaults_are_what_operators_are_told() {
        let told = [
            ("envelope_bytes", 67_108_864),
            ("artifact_bytes", 67_108_864),
            ("unpacked_bytes", 268_435_456),
            ("ratio", 200),
            ("artifacts", 5_000),
            ("depth", 6),
            ("entries", 10_000),
            ("text_bytes", 67_108_864),
            ("decoded_bytes", 268_435_456),
            ("normalized_bytes", 268_435_456),
            ("pixels", 67_108_864),
            ("code_pixels", 0),
            ("letter_pixels", 0),
            ("side", 65_535),
            ("frames", 500),
            ("objects", 200_000),
            ("steps", 100_000_000),
            ("findings", 1_000),
            ("cpu", 5),
            ("wall", 10),
            ("memory", 536_870_912),
        ];
        assert_eq!(Resource::ALL.map(|resource| (resource.name(), resource.default_limit())), told);
        let of_process = Resource::ALL.into_iter().filter(|resource| resource.is_of_process());
        assert_eq!(of_process.map(Resource::name).collect::<Vec<_>>(), ["cpu", "wall", "memory"]);
        assert_eq!(Exhausted(Resource::Depth).to_string(), "limit:depth");
    }

    #[test]
    fn a_limit_holds_at_it_and_not_one_past() {
        for resource in Resource::ALL {
            let mut budget = Budget::new(Limits::NOTHING.with(resource, 7));
            assert_eq!(budget.spend(resource, 7), Ok(()));
            assert_eq!(budget.spend(resource, 1), Err(Exhausted(resource)));
            assert_eq!(budget.spent().get(resource), 7);
            assert_eq!(budget.left(resource), 0);
            assert_eq!(budget.limits().get(resource), 7);
            let mut budget = Budget::new(Limits::NOTHING.with(resource, 7));
            assert_eq!(budget.reach(resource, 7), Ok(()));
            assert_eq!(budget.reach(resource, 8), Err(Exhausted(resource)));
            assert_eq!(budget.spent().get(resource), 7);
        }
    }

    #[test]
    fn an_amount_that_overflows_is_refused() {
        let mut budget = Budget::new(Limits::NOTHING.with(Resource::Steps, u64::MAX));
        assert_eq!(budget.spend(Resource::Steps, u64::MAX), Ok(()));
        assert_eq!(budget.spend(Resource::Steps, u64::MAX), Err(Exhausted(Resource::Steps)));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]

        /// Whatever is asked: nothing over the limit is given, a refusal takes nothing, and what was spent is enough for
        /// the same again, while one less is not.
        #[test]
        fn what_was_spent_is_exactly_what_it_needs(
            limit in 0_u64..100,
            asked in proptest::collection::vec((proptest::bool::ANY, 0_u64..40), 0..20),
        ) {
            let run = |limit: u64| {
                let mut budget = Budget::new(Limits::NOTHING.with(Resource::Steps, limit));
                let answers: Vec<bool> = asked
                    .iter()
                    .map(|(is_level, amount)| {
                        let before = budget.spent().get(Resource::Steps);
                        let answer = if *is_level {
                            budget.reach(Resource::Steps, *amount)
                        } else {
                            budget.spend(Resource::Steps, *amount)
                        };
                        let after = budget.spent().get(Resource::Steps);
                        assert!(after <= limit && after >= before && (answer.is_ok() || after == before));
                        assert_eq!(budget.left(Resource::Steps), limit - after);
                        answer.is_ok()
                    })
                    .collect();
                (answers, budget.spent().get(Resource::Steps))
            };
            let (answers, spent) = run(limit);
            proptest::prop_assert_eq!(run(spent), (answers.clone(), spent));
            if let Some(less) = spent.checked_sub(1) {
                proptest::prop_assert_ne!(run(less).0, answers);
            }
        }
    }
}
