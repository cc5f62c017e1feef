//! Policy: data that maps findings and gaps to a decision, per audience. Pure and total.

use std::{borrow::Cow, fmt};

use crate::settings::suggest;

mod case;
mod clause;
mod date;
mod decide;
mod lift;
mod parse;
mod pattern;
mod replay;
mod tree;

#[cfg(test)]
mod tests;

pub use case::{Case, CaseArtifact, CaseFinding, CaseGap};
pub(crate) use case::{finding_id, gap_id};
use clause::{Clause, Exception};
pub use date::{Date, NotADate};
pub use decide::{Answer, Because, Cause, Decided, ForAudience};
pub use lift::{Approval, Override};
use pattern::Pattern;
pub use replay::Replayed;

/// A policy: clauses that are tried from top to bottom, the first that fits decides.
///
/// ```
/// use scanner_core::{Audience, Case, Decision, Policy};
///
/// let shipped = |name: &str| {
///     scanner_rules::POLICIES.iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| (*text).into())
/// };
/// let text = r#"
/// schema = "scanner.policy/v1"
/// name = "mine"
/// extends = "default"
///
/// [[when]]
/// category = "pii.*"
/// severity = ">=info"
/// then = "block"
/// "#;
/// let policy = Policy::parse("mine.toml", text, &shipped)?;
/// let decided = policy.decide(&Case { complete: true, ..Case::default() }, &Audience::BUILT_IN, None);
/// assert_eq!(decided.decision, Decision::Allow);
/// # Ok::<(), scanner_core::SettingsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    name: String,
    digest: String,
    enforced: bool,
    otherwise: Decision,
    incomplete: Decision,
    /// The four that are built in, then the policy's own.
    audiences: Vec<(Audience, AudienceSettings)>,
    /// The policy's own, then those of what it extends.
    clauses: Vec<Clause>,
    exceptions: Vec<Exception>,
}

impl Policy {
    /// Its name, as written in verdicts.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 over its text and the digest of what it extends, in lower-case hexadecimal. A changed comment changes it:
    /// who has the digest has the very file.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether its decisions hold. If not, everything is allowed and the verdict says what would have been.
    pub const fn enforced(&self) -> bool {
        self.enforced
    }

    /// Whether a decision depends on the day: some exception ends. The receipt then records the day.
    pub fn uses_date(&self) -> bool {
        self.exceptions.iter().any(|exception| exception.expires.is_some())
    }

    /// Every audience it knows: the four that are built in, then its own.
    pub fn audiences(&self) -> impl Iterator<Item = (&Audience, &AudienceSettings)> {
        self.audiences.iter().map(|(audience, settings)| (audience, settings))
    }

    /// What it says of an audience; `None` for one it does not know.
    pub fn settings(&self, audience: &Audience) -> Option<&AudienceSettings> {
        self.audiences.iter().find(|(known, _)| known == audience).map(|(_, settings)| settings)
    }

    /// The audience of that name.
    ///
    /// # Errors
    /// The policy does not know it. For the front to report: [`Policy::decide`] blocks everything for such an audience.
    pub fn audience(&self, name: &str) -> Result<Audience, UnknownAudience> {
        self.audiences().map(|(audience, _)| audience).find(|audience| audience.name() == name).cloned().ok_or_else(
            || {
                let known = self.audiences().map(|(audience, _)| audience.name().to_owned()).collect();
                UnknownAudience { name: name.to_owned(), known }
            },
        )
    }
}

/// A name that is no audience of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownAudience {
    /// The name that was asked for.
    pub name: String,
    /// The names the policy knows.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownAudience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        write!(f, "unknown audience {:?}, {}", self.name, suggest(&self.name, &known))
    }
}

impl std::error::Error for UnknownAudience {}

/// Which part of a text that is too long stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Its beginning.
    Head,
    /// Its end.
    Tail,
    /// Half from the beginning, half from the end.
    #[default]
    HeadTail,
}

impl Keep {
    /// All.
    pub const ALL: [Self; 3] = [Self::Head, Self::Tail, Self::HeadTail];

    /// The word used in policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Tail => "tail",
            Self::HeadTail => "head_tail",
        }
    }
}

/// What a policy says of one audience, apart from decisions.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AudienceSettings {
    /// How long a text may be in a release, in bytes; `None` for no cap.
    pub max_text_bytes: Option<u64>,
    /// What stays of a longer one.
    pub keep: Keep,
    /// The built-in audience whose clauses also count for it.
    pub like: Option<Audience>,
    /// Types that may be shown in place; `None` for all.
    inline: Option<Vec<Pattern>>,
    /// Types that are shown whole in a sandbox: what acts in them acts there and reaches nothing.
    sandbox: Option<Vec<Pattern>>,
}

impl AudienceSettings {
    /// Whether a type may be shown in place, rather than offered as a file.
    pub fn may_inline(&self, label: &str, mime: &str) -> bool {
        self.inline.as_ref().is_none_or(|types| types.iter().any(|kind| kind.fits(label) || kind.fits(mime)))
    }

    /// Whether a type, where it is allowed as it came, is shown whole in a sandbox.
    pub fn is_sandboxed(&self, label: &str, mime: &str) -> bool {
        self.sandbox.iter().flatten().any(|kind| kind.fits(label) || kind.fits(mime))
    }
}

/// What is to happen with an artifact, or with the whole. The worst wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It may go as it is.
    Allow,
    /// It may go once cleaned.
    Sanitize,
    /// A person decides.
    Review,
    /// It stays.
    Block,
}

impl Decision {
    /// All, mildest first.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Sanitize, Self::Review, Self::Block];

    /// The word used in verdicts and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Sanitize => "sanitize",
            Self::Review => "review",
            Self::Block => "block",
        }
    }

    /// The decision of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.name() == name)
    }
}

/// What may leave. Ordered from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deliver {
    /// The bytes as they came.
    Original,
    /// The cleaned version.
    Release,
    /// Nothing.
    Nothing,
}

impl Deliver {
    /// The word used in verdicts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Release => "release",
            Self::Nothing => "nothing",
        }
    }
}

/// Where something goes. A policy may define more than the four that are built in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Audience(Cow<'static, str>);

impl Audience {
    /// Shown in a web page.
    pub const PAGE: Self = Self(Cow::Borrowed("page"));
    /// Printed on a terminal.
    pub const TERMINAL: Self = Self(Cow::Borrowed("terminal"));
    /// Fed back to the model as a tool result.
    pub const MODEL: Self = Self(Cow::Borrowed("model"));
    /// Served as a file.
    pub const DOWNLOAD: Self = Self(Cow::Borrowed("download"));
    /// The four that are built in, in the order in which verdicts list them.
    pub const BUILT_IN: [Self; 4] = [Self::PAGE, Self::TERMINAL, Self::MODEL, Self::DOWNLOAD];

    /// The audience of that name; whether a policy knows it is asked when deciding.
    pub fn named(name: &str) -> Self {
        Self(Cow::Owned(name.to_owned()))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
