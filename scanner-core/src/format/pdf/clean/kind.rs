//! What is kept of the objects that pages are made of (ISO 32000-1 §7 to §9): for each kind its keys, and what kind
//! stands behind each. A key that is not listed is not written.

use crate::format::pdf::object::Dict;

/// What a value is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Numbers, names and strings, and lists of them.
    Inert,
    /// A string for people.
    Text,
    Resources,
    Fonts,
    Drawables,
    States,
    Spaces,
    Patterns,
    Shadings,
    Layers,
    Font,
    Descriptor,
    FontFile,
    Encoding,
    System,
    Glyphs,
    /// A stream that says nothing more than how it is packed.
    Data,
    /// A picture or a form, as it says.
    Drawable,
    Picture,
    Form,
    Group,
    State,
    SoftMask,
    /// A colour space, or a part of one.
    Space,
    Profile,
    Calibration,
    Function,
    Pattern,
    Shading,
    Layer,
    LayerSets,
    LayerSet,
    Packing,
    Border,
    /// An annotation that is a mark or a note and has no look of its own.
    Mark,
}

/// What is in a dictionary of some kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// No dictionary stands there.
    None,
    Keys(&'static [(&'static str, Kind)]),
    /// Any names, each with a thing of that kind.
    Each(Kind),
}

impl Kind {
    /// What a dictionary is where this kind is expected. Nothing, where it has no place.
    pub(super) fn of(self, dict: &Dict<'_>, is_stream: bool) -> Option<Self> {
        let kind = match self {
            Self::Drawable if !is_stream => return None,
            Self::Drawable => match dict.name("Subtype") {
                Some(b"Image") => Self::Picture,
                // A form that is a program for a printer is no form.
                Some(b"Form") if !dict.has("Subtype2") && !dict.has("PS") => Self::Form,
                _ => return None,
            },
            Self::Space if dict.has("FunctionType") => Self::Function,
            Self::Space if is_stream && dict.has("N") => Self::Profile,
            Self::Space if is_stream => Self::Data,
            Self::Space if dict.has("WhitePoint") => Self::Calibration,
            Self::Space => return None,
            kind => kind,
        };
        let needs_stream = matches!(kind, Self::Picture | Self::Form | Self::Data | Self::FontFile | Self::Profile);
        (!matches!(kind.shape(), Shape::None) && (is_stream || !needs_stream)).then_some(kind)
    }

    /// Whether the bytes of a stream belong to it.
    pub(super) const fn may_be_stream(self) -> bool {
        matches!(
            self,
            Self::Picture
                | Self::Form
                | Self::Data
                | Self::FontFile
                | Self::Profile
                | Self::Encoding
                | Self::Function
                | Self::Pattern
                | Self::Shading
        )
    }

    pub(super) const fn shape(self) -> Shape {
        match self {
            Self::Inert | Self::Text | Self::Drawable | Self::Space => Shape::None,
            Self::Resources => Shape::Keys(RESOURCES),
            Self::Fonts => Shape::Each(Self::Font),
            Self::Drawables => Shape::Each(Self::Drawable),
            Self::States => Shape::Each(Self::State),
            Self::Spaces => Shape::Each(Self::Space),
            Self::Patterns => Shape::Each(Self::Pattern),
            Self::Shadings => Shape::Each(Self::Shading),
            Self::Layers => Shape::Each(Self::Layer),
            Self::Glyphs => Shape::Each(Self::Data),
            Self::Font => Shape::Keys(FONT),
            Self::Descriptor => Shape::Keys(DESCRIPTOR),
            Self::FontFile => Shape::Keys(FONT_FILE),
            Self::Encoding => Shape::Keys(ENCODING),
            Self::System => Shape::Keys(SYSTEM),
            Self::Data => Shape::Keys(&[]),
            Self::Picture => Shape::Keys(PICTURE),
            Self::Form => Shape::Keys(FORM),
            Self::Group => Shape::Keys(GROUP),
            Self::State => Shape::Keys(STATE),
            Self::SoftMask => Shape::Keys(SOFT_MASK),
            Self::Profile => Shape::Keys(PROFILE),
            Self::Calibration => Shape::Keys(CALIBRATION),
            Self::Function => Shape::Keys(FUNCTION),
            Self::Pattern => Shape::Keys(PATTERN),
            Self::Shading => Shape::Keys(SHADING),
            Self::Layer => Shape::Keys(LAYER),
            Self::LayerSets => Shape::Keys(LAYER_SETS),
            Self::LayerSet => Shape::Keys(LAYER_SET),
            Self::Packing => Shape::Keys(PACKING),
            Self::Border => Shape::Keys(BORDER),
            Self::Mark => Shape::Keys(MARK),
        }
    }
}

type Keys = &'static [(&'static str, Kind)];

use Kind::Inert;

/// §7.8.3.
const RESOURCES: Keys = &[
    ("ColorSpace", Kind::Spaces),
    ("ExtGState", Kind::States),
    ("Font", Kind::Fonts),
    ("Pattern", Kind::Patterns),
    ("ProcSet", Inert),
    ("Properties", Kind::Layers),
    ("Shading", Kind::Shadings),
    ("XObject", Kind::Drawables),
];

/// §9.6 and §9.7.
const FONT: Keys = &[
    ("Type", Inert),
    ("Subtype", Inert),
    ("BaseFont", Inert),
    ("CIDSystemInfo", Kind::System),
    ("CIDToGIDMap", Kind::Data),
    ("CharProcs", Kind::Glyphs),
    ("DW", Inert),
    ("DW2", Inert),
    ("DescendantFonts", Kind::Font),
    ("Encoding", Kind::Encoding),
    ("FirstChar", Inert),
    ("FontBBox", Inert),
    ("FontDescriptor", Kind::Descriptor),
    ("FontMatrix", Inert),
    ("LastChar", Inert),
    ("Name", Inert),
    ("Resources", Kind::Resources),
    ("ToUnicode", Kind::Encoding),
    ("W", Inert),
    ("W2", Inert),
    ("Widths", Inert),
];

/// §9.8.
const DESCRIPTOR: Keys = &[
    ("Type", Inert),
    ("Ascent", Inert),
    ("AvgWidth", Inert),
    ("CIDSet", Kind::Data),
    ("CapHeight", Inert),
    ("CharSet", Inert),
    ("Descent", Inert),
    ("Flags", Inert),
    ("FontBBox", Inert),
    ("FontFamily", Inert),
    ("FontFile", Kind::FontFile),
    ("FontFile2", Kind::FontFile),
    ("FontFile3", Kind::FontFile),
    ("FontName", Inert),
    ("FontStretch", Inert),
    ("FontWeight", Inert),
    ("ItalicAngle", Inert),
    ("Leading", Inert),
    ("MaxWidth", Inert),
    ("MissingWidth", Inert),
    ("StemH", Inert),
    ("StemV", Inert),
    ("XHeight", Inert),
];

/// §9.9.
const FONT_FILE: Keys = &[("Length1", Inert), ("Length2", Inert), ("Length3", Inert), ("Subtype", Inert)];

/// §9.6.6 and, of character maps, §9.7.5.
const ENCODING: Keys = &[
    ("Type", Inert),
    ("BaseEncoding", Inert),
    ("CIDSystemInfo", Kind::System),
    ("CMapName", Inert),
    ("Differences", Inert),
    ("UseCMap", Kind::Encoding),
    ("WMode", Inert),
];

/// §9.7.3.
const SYSTEM: Keys = &[("Ordering", Inert), ("Registry", Inert), ("Supplement", Inert)];

/// §8.9.5.
const PICTURE: Keys = &[
    ("Type", Inert),
    ("Subtype", Inert),
    ("BitsPerComponent", Inert),
    ("ColorSpace", Kind::Space),
    ("Decode", Inert),
    ("Height", Inert),
    ("ImageMask", Inert),
    ("Intent", Inert),
    ("Interpolate", Inert),
    ("Mask", Kind::Picture),
    ("Matte", Inert),
    ("Name", Inert),
    ("OC", Kind::Layer),
    ("SMask", Kind::Picture),
    ("SMaskInData", Inert),
    ("Width", Inert),
];

/// §8.10.
const FORM: Keys = &[
    ("Type", Inert),
    ("Subtype", Inert),
    ("BBox", Inert),
    ("FormType", Inert),
    ("Group", Kind::Group),
    ("Matrix", Inert),
    ("Name", Inert),
    ("OC", Kind::Layer),
    ("Resources", Kind::Resources),
];

/// §11.6.6.
const GROUP: Keys = &[("Type", Inert), ("CS", Kind::Space), ("I", Inert), ("K", Inert), ("S", Inert)];

/// §8.4.5.
const STATE: Keys = &[
    ("Type", Inert),
    ("AIS", Inert),
    ("BG", Kind::Function),
    ("BG2", Kind::Function),
    ("BM", Inert),
    ("CA", Inert),
    ("D", Inert),
    ("FL", Inert),
    ("Font", Kind::Font),
    ("LC", Inert),
    ("LJ", Inert),
    ("LW", Inert),
    ("ML", Inert),
    ("OP", Inert),
    ("OPM", Inert),
    ("RI", Inert),
    ("SA", Inert),
    ("SM", Inert),
    ("SMask", Kind::SoftMask),
    ("TK", Inert),
    ("TR", Kind::Function),
    ("TR2", Kind::Function),
    ("UCR", Kind::Function),
    ("UCR2", Kind::Function),
    ("ca", Inert),
    ("op", Inert),
];

/// §11.6.5.2.
const SOFT_MASK: Keys = &[("Type", Inert), ("BC", Inert), ("G", Kind::Form), ("S", Inert), ("TR", Kind::Function)];

/// §8.6.5.5.
const PROFILE: Keys = &[("Alternate", Kind::Space), ("N", Inert), ("Range", Inert)];

/// §8.6.5.
const CALIBRATION: Keys =
    &[("BlackPoint", Inert), ("Gamma", Inert), ("Matrix", Inert), ("Range", Inert), ("WhitePoint", Inert)];

/// §7.10.
const FUNCTION: Keys = &[
    ("BitsPerSample", Inert),
    ("Bounds", Inert),
    ("C0", Inert),
    ("C1", Inert),
    ("Decode", Inert),
    ("Domain", Inert),
    ("Encode", Inert),
    ("FunctionType", Inert),
    ("Functions", Kind::Function),
    ("N", Inert),
    ("Order", Inert),
    ("Range", Inert),
    ("Size", Inert),
];

/// §8.7.
const PATTERN: Keys = &[
    ("Type", Inert),
    ("BBox", Inert),
    ("ExtGState", Kind::State),
    ("Matrix", Inert),
    ("PaintType", Inert),
    ("PatternType", Inert),
    ("Resources", Kind::Resources),
    ("Shading", Kind::Shading),
    ("TilingType", Inert),
    ("XStep", Inert),
    ("YStep", Inert),
];

/// §8.7.4.
const SHADING: Keys = &[
    ("AntiAlias", Inert),
    ("BBox", Inert),
    ("Background", Inert),
    ("BitsPerComponent", Inert),
    ("BitsPerCoordinate", Inert),
    ("BitsPerFlag", Inert),
    ("ColorSpace", Kind::Space),
    ("Coords", Inert),
    ("Decode", Inert),
    ("Domain", Inert),
    ("Extend", Inert),
    ("Function", Kind::Function),
    ("Matrix", Inert),
    ("ShadingType", Inert),
    ("VerticesPerRow", Inert),
];

/// §8.11.2, and the words that marked content may stand for (§14.9).
const LAYER: Keys = &[
    ("Type", Inert),
    ("ActualText", Kind::Text),
    ("Alt", Kind::Text),
    ("E", Kind::Text),
    ("Intent", Inert),
    ("Lang", Inert),
    ("MCID", Inert),
    ("Name", Kind::Text),
    ("OCGs", Kind::Layer),
    ("P", Inert),
    ("VE", Kind::Layer),
];

/// §8.11.4. What layers do by themselves (`AS`) is left out.
const LAYER_SETS: Keys = &[("D", Kind::LayerSet), ("OCGs", Kind::Layer)];
const LAYER_SET: Keys = &[("BaseState", Inert), ("OFF", Kind::Layer), ("ON", Kind::Layer), ("Order", Kind::Layer)];

/// §7.4.
const PACKING: Keys = &[
    ("BitsPerComponent", Inert),
    ("BlackIs1", Inert),
    ("ColorTransform", Inert),
    ("Colors", Inert),
    ("Columns", Inert),
    ("DamagedRowsBeforeError", Inert),
    ("EarlyChange", Inert),
    ("EncodedByteAlign", Inert),
    ("EndOfBlock", Inert),
    ("EndOfLine", Inert),
    ("JBIG2Globals", Kind::Data),
    ("K", Inert),
    ("Predictor", Inert),
    ("Rows", Inert),
];

/// §12.5.4.
const BORDER: Keys = &[("Type", Inert), ("D", Inert), ("S", Inert), ("W", Inert)];

/// §12.5.6.2 to §12.5.6.13.
const MARK: Keys = &[
    ("BS", Kind::Border),
    ("Border", Inert),
    ("C", Inert),
    ("CA", Inert),
    ("Contents", Kind::Text),
    ("DA", Inert),
    ("IC", Inert),
    ("InkList", Inert),
    ("L", Inert),
    ("LE", Inert),
    ("Name", Inert),
    ("Q", Inert),
    ("QuadPoints", Inert),
    ("Rect", Inert),
    ("Vertices", Inert),
];
