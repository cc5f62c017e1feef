//! The neutral form of one tool result: what every adapter makes and what the scan consumes.

use std::fmt;

use bytes::Bytes;

mod written;

pub(crate) use written::{Carrier, Ground, Piece, Spelling, Written};

/// Number of an artifact within one scan; written `a0`, `a1`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactId(pub u32);

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}

/// Who worded an artifact. Everything is read; by default only tool and model are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// Output of the code that ran.
    Tool,
    /// Written by the model: message text, code.
    Model,
    /// The user's own words, found in a request.
    Caller,
}

impl Trust {
    /// All, with the word used in verdicts and policies.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Tool, "tool"), (Self::Model, "model"), (Self::Caller, "caller")];

    /// The word used in verdicts and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Model => "model",
            Self::Caller => "caller",
        }
    }
}

/// Which part of a tool result an artifact was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// Standard output of a call.
    Stdout,
    /// Standard error of a call.
    Stderr,
    /// Both streams in one, or a log.
    Log,
    /// Value of the last expression.
    Result,
    /// The code that was run.
    Code,
    /// Text of a message.
    Message,
    /// A picture shown.
    Image,
    /// A file produced.
    File,
    /// Something inside another artifact.
    Member,
    /// Text that describes: names, titles, keys.
    Metadata,
    /// An error text.
    Error,
    /// A string of the envelope that no adapter claims.
    Unclaimed,
}

impl Origin {
    /// All.
    pub const ALL: [Self; 12] = [
        Self::Stdout,
        Self::Stderr,
        Self::Log,
        Self::Result,
        Self::Code,
        Self::Message,
        Self::Image,
        Self::File,
        Self::Member,
        Self::Metadata,
        Self::Error,
        Self::Unclaimed,
    ];

    /// The origin of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.name() == name)
    }

    /// Whether it is text whatever it looks like: it is shown as text and never opened by type.
    pub const fn is_text(self) -> bool {
        !matches!(self, Self::Image | Self::File | Self::Member)
    }

    /// The word used in verdicts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Log => "log",
            Self::Result => "result",
            Self::Code => "code",
            Self::Message => "message",
            Self::Image => "image",
            Self::File => "file",
            Self::Member => "member",
            Self::Metadata => "metadata",
            Self::Error => "error",
            Self::Unclaimed => "unclaimed",
        }
    }
}

/// How a call ended. Ordered from good to bad: when signals disagree the worst wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It ended well.
    Ok,
    /// Its result is not there yet.
    Pending,
    /// Nothing says how it ended, or what says it is not understood.
    Unknown,
    /// It was cut off.
    Truncated,
    /// Somebody stopped it.
    Cancelled,
    /// It ended badly.
    Failed,
    /// It ran out of time.
    TimedOut,
}

impl Status {
    /// All, worst last.
    pub const ALL: [Self; 7] =
        [Self::Ok, Self::Pending, Self::Unknown, Self::Truncated, Self::Cancelled, Self::Failed, Self::TimedOut];

    /// The word used in verdicts and bundles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
            Self::Truncated => "truncated",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
        }
    }

    /// The status of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// How the bytes of a handle are packed inside its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// As they are.
    Stored,
    /// RFC 1950.
    Zlib,
    /// RFC 1951.
    Deflate,
    /// RFC 1952, all members.
    Gzip,
    /// bzip2, all streams.
    Bzip2,
    /// xz, all streams.
    Xz,
    /// LZMA behind its header of 13 bytes.
    Lzma,
    /// LZMA as zips have it; `u64::MAX` where a mark ends it.
    ZipLzma {
        /// Bytes that come out.
        size: u64,
    },
    /// deflate with a window of 64 KiB.
    Deflate64,
    /// LZ4, all frames.
    Lz4,
    /// RFC 8878, all frames.
    Zstd,
}

/// A handle on bytes: a range of the parent and how it is packed. Unpacked when its turn comes, so memory does not
/// grow with nesting.
#[derive(Clone, Debug)]
pub struct Source {
    /// The packed bytes, a counted slice of the parent.
    pub packed: Bytes,
    /// How they are packed.
    pub codec: Codec,
}

impl Source {
    /// Bytes that are not packed.
    pub fn stored(bytes: impl Into<Bytes>) -> Self {
        Self { packed: bytes.into(), codec: Codec::Stored }
    }
}

/// What a container says of a member before it is unpacked. Untrusted: held against what comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Its unpacked size, bytes.
    pub size: Option<u64>,
    /// CRC-32 of the unpacked bytes.
    pub crc32: Option<u32>,
}

/// One untrusted thing: a text stream, an image, a file, a member of an archive.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Artifact {
    /// Which part of the result it was.
    pub origin: Origin,
    /// Who worded it.
    pub trust: Trust,
    /// The name that came with it. Untrusted: never a path.
    pub name: Option<String>,
    /// The media type that came with it. Untrusted.
    pub declared: Option<String>,
    /// Where in the envelope it stood: a JSON Pointer, for streams `#event/pointer`.
    pub at: Option<String>,
    /// Further places at which the very same bytes stand: they are one artifact, and a release replaces all of them.
    pub also_at: Vec<String>,
    /// Its bytes.
    pub source: Source,
    /// What the archive it is a member of says of it.
    pub claim: Option<Claim>,
    /// The call it belongs to, by position in [`Bundle::calls`].
    pub call: Option<usize>,
    /// The reference it answers, by position in [`Bundle::references`].
    pub reference: Option<usize>,
    /// Where its bytes stand in the input: as often as they do. Empty for what is not in it.
    pub(crate) written: Vec<Written>,
}

impl Artifact {
    /// An artifact worded by the tool, without a name.
    pub fn new(origin: Origin, source: Source) -> Self {
        Self {
            origin,
            trust: Trust::Tool,
            name: None,
            declared: None,
            at: None,
            also_at: Vec::new(),
            source,
            claim: None,
            call: None,
            reference: None,
            written: Vec::new(),
        }
    }

    /// The same artifact under a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// One execution inside a bundle.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    /// The provider's id, if it gave one.
    pub id: Option<String>,
    /// The tool's name.
    pub tool: Option<String>,
    /// How it ended.
    pub status: Status,
    /// What says so.
    pub status_reason: String,
    /// Exit code of the process, where there is one.
    pub exit_code: Option<i64>,
    /// The container it ran in.
    pub container: Option<String>,
    /// Who called it, where that is not the model directly.
    pub caller: Option<String>,
}

impl Call {
    /// A call of which nothing is known.
    pub fn new() -> Self {
        Self {
            id: None,
            tool: None,
            status: Status::Unknown,
            status_reason: "nothing says how it ended".to_owned(),
            exit_code: None,
            container: None,
            caller: None,
        }
    }
}

impl Default for Call {
    fn default() -> Self {
        Self::new()
    }
}

/// How a caller fetches a reference. Built only from ids in the vendor's own alphabet and the vendor's hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// HTTP method.
    pub method: &'static str,
    /// Path or https URL.
    pub url: String,
    /// Whose credentials it needs.
    pub auth: String,
}

/// Something the envelope points at but does not contain. The scanner never fetches it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reference {
    /// The provider's id or URL.
    pub id: String,
    /// `file_id`, `container_file` or `url`.
    pub kind: &'static str,
    /// The call it belongs to, by position in [`Bundle::calls`].
    pub call: Option<usize>,
    /// The file name that came with it.
    pub name: Option<String>,
    /// How to fetch it; `None` when it cannot be built safely.
    pub request: Option<Request>,
}

/// One tool result in neutral form.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Bundle {
    /// The executions, in order.
    pub calls: Vec<Call>,
    /// The untrusted things, in order.
    pub artifacts: Vec<Artifact>,
    /// What it points at.
    pub references: Vec<Reference>,
    /// Status of the envelope as a whole, where it has one of its own.
    pub status: Option<Status>,
}
