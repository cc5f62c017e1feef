//! What are these bytes: type by content, never by name.

/// What a type can do to whoever opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Nothing by itself.
    Inert,
    /// Its viewer may run what is in it.
    Active,
    /// Holds other files.
    Container,
    /// Runs.
    Executable,
    /// Nobody knows.
    Unknown,
}

impl Risk {
    /// All.
    pub const ALL: [Self; 5] = [Self::Inert, Self::Active, Self::Container, Self::Executable, Self::Unknown];

    /// The word used in verdicts and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inert => "inert",
            Self::Active => "active",
            Self::Container => "container",
            Self::Executable => "executable",
            Self::Unknown => "unknown",
        }
    }

    /// The risk of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|risk| risk.name() == name)
    }
}

/// One row of the table of types.
#[derive(Debug, PartialEq, Eq)]
pub struct Type {
    /// Short name.
    pub label: &'static str,
    /// Media type.
    pub mime: &'static str,
    /// Other media types that honestly mean the same.
    pub aliases: &'static [&'static str],
    /// File name extensions that honestly hold it, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// What it can do.
    pub risk: Risk,
    /// Whether its bytes are text that a person or a model reads as it stands.
    pub is_text: bool,
}

/// What the sniffer says of some bytes.
#[derive(Clone, Debug)]
pub struct Sniffed {
    /// The type.
    pub kind: &'static Type,
    /// What a browser would take them for, were no type declared (WHATWG MIME Sniffing); empty when it would not.
    pub browser: &'static str,
    /// Other types the same bytes are valid as.
    pub also: Vec<&'static Type>,
}

static T: [Type; 3] = [
 Type{label:"unknown",mime:"application/octet-stream",aliases:&[],extensions:&[],risk:Risk::Unknown,is_text:false},
 Type{label:"txt",mime:"text/plain",aliases:&[],extensions:&[],risk:Risk::Inert,is_text:true},
 Type{label:"png",mime:"image/png",aliases:&[],extensions:&["png"],risk:Risk::Inert,is_text:false}];
pub fn type_of(l:&str)->Option<&'static Type>{T.iter().find(|t|t.label==l)}
pub fn sniff(b:&[u8])->Sniffed{ let kind = if b.starts_with(b"\x89PNG") {&T[2]} else {&T[1]}; Sniffed{kind,browser:"",also:vec![]}}
pub struct Mismatch{pub declared:String,pub more_dangerous:bool}
pub fn mismatch(_:&Sniffed,_:Option<&str>,_:Option<&str>)->Option<Mismatch>{None}
pub fn declared_type(_:&str)->&'static str{""}
pub(crate) const STEPS:u64=1000;
pub(crate) fn unknown()->&'static Type{&T[0]}
pub(crate) fn plain_text()->&'static Type{&T[1]}
impl Sniffed{pub(crate) fn unknown()->Self{Sniffed{kind:&T[0],browser:"",also:vec![]}}}
