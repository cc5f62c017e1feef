//! The fixed words of findings: one word per fact, wherever it was found.

/// Families and their members. A new word may be added when none fits; none changes its meaning.
pub const CATEGORIES: &[(&str, &[&str])] = &[
    (
        "injection",
        &[
            "override",
            "role_marker",
            "ai_addressed",
            "tool_spoof",
            "chat_template",
            "exfiltration",
            "concealment",
            "persona",
            "authority",
            "memory",
            "approval",
            "prompt_leak",
            "output_control",
            "conditional",
            "shell",
            "suspect",
        ],
    ),
    (
        "hidden",
        &[
            "zero_width",
            "bidi",
            "tags",
            "variation",
            "homoglyph",
            "control",
            "comment",
            "style",
            "encoded",
            "color",
            "size",
            "offpage",
            "overwritten",
        ],
    ),
    (
        "html",
        &[
            "script",
            "handler",
            "url",
            "frame",
            "form",
            "object",
            "style",
            "meta",
            "base",
            "foreign_object",
            "smuggling",
            "markup",
            "markdown_image",
            "markdown_link",
        ],
    ),
    ("terminal", &["cursor", "title", "clipboard", "hyperlink", "device", "conceal", "control"]),
    ("secret", &["cloud", "vcs", "ai", "payment", "messaging", "database", "key", "token", "password", "generic"]),
    ("pii", &["email", "phone", "card", "iban", "national_id", "ip"]),
    ("url", &["exfiltration", "internal", "credentials", "lookalike"]),
    ("malformed", &["empty", "truncated", "crc", "structure", "xref", "header_offset", "encoding", "duplicate_key"]),
    ("type", &["mismatch", "polyglot", "trailing_data", "prefix_data"]),
    ("bomb", &["dimensions", "ratio", "recursion", "frames", "entries", "objects", "overlap", "xml_entities"]),
    ("script", &["pdf_js", "xfa", "notebook", "formula", "server", "shell", "sql", "postscript", "tex"]),
    ("xml", &["external_entity", "internal_entity"]),
    ("active", &["activex", "richmedia"]),
    ("macro", &["vba", "xl4", "basic", "dde", "autoexec"]),
    ("office", &["hidden_sheet"]),
    ("pdf", &["name_escape", "incremental"]),
    ("net", &["link", "external_ref", "external_template", "auto_open"]),
    ("embed", &["file", "ole", "executable"]),
    (
        "exec",
        &[
            "elf",
            "pe",
            "macho",
            "wasm",
            "class",
            "dex",
            "jar",
            "apk",
            "pyc",
            "script",
            "shortcut",
            "config",
            "installer",
            "package",
            "protocol",
            "name",
            "yaml_tag",
            "pdf_launch",
        ],
    ),
    ("path", &["traversal", "absolute", "symlink", "hardlink", "device", "special_name", "special_mode"]),
    ("zip", &["duplicate_name", "header_mismatch", "hidden_entry", "size_lie"]),
    ("pickle", &["dangerous_global", "unknown_global", "nested", "present", "keras_lambda"]),
    ("privacy", &["gps"]),
    ("malware", &["eicar", "signature"]),
    ("policy", &["reference"]),
];

/// Whether that is a word of the list: `family.member`.
///
/// ```
/// assert!(scanner_core::is_category("hidden.bidi"));
/// assert!(!scanner_core::is_category("hidden"));
/// assert!(!scanner_core::is_category("hidden.bdi"));
/// ```
pub fn is_category(word: &str) -> bool {
    word.split_once('.').is_some_and(|(family, member)| {
        CATEGORIES.iter().any(|(name, members)| *name == family && members.contains(&member))
    })
}
