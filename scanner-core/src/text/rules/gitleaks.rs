//! Rule files in the format of gitleaks (`[[rules]]` with `regex`, `secretGroup`, `entropy`, `keywords`, `path`,
//! `allowlists`), as its README describes it: what people already have.
//!
//! Two things differ. Allowlists by path or commit are read and do not apply: here the name of a file is chosen by
//! whoever made it, and one called `x.png` must not switch rules off. And `extend.useDefault` means the rules built in
//! here, which always apply.

use std::{collections::BTreeMap, fmt, sync::Arc};

use regex_automata::{meta::Regex, util::syntax};

use super::{
    parse::{REGEX_LONGEST, RULES_MOST, TextRule},
    pattern::Pattern,
};
use crate::{
    finding::{Confidence, Rule, Severity},
    settings::{At, SettingsError, Table},
};

/// What a rule of such a file asks for beyond a regex.
pub(crate) struct Gitleaks {
    /// One of these stands in the text, in either case, or the rule is not asked; empty is always.
    pub(crate) keywords: Vec<String>,
    /// What is looked for; none looks at names only.
    pub(crate) regex: Option<Regex>,
    /// The name that the artifact must have.
    pub(crate) path: Option<Regex>,
    /// The group that is the secret; the first that took part when it is zero.
    pub(crate) group: usize,
    /// Fewest bits of entropy per byte, in hundredths; above it is a secret.
    pub(crate) entropy_hundredths: u32,
    pub(crate) allowed: Vec<Arc<Allowlist>>,
}

impl fmt::Debug for Gitleaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gitleaks").field("keywords", &self.keywords).finish_non_exhaustive()
    }
}

/// What a match is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Secret,
    Match,
    Line,
}

impl Target {
    const ALL: [Self; 3] = [Self::Secret, Self::Match, Self::Line];

    const fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Match => "match",
            Self::Line => "line",
        }
    }
}

/// What is no secret after all.
#[derive(Debug)]
pub(crate) struct Allowlist {
    target: Target,
    regexes: Vec<Regex>,
    stopwords: Vec<String>,
    /// All parts must agree, not one of them.
    all: bool,
    /// A part that does not apply here: with `all` the list can never agree.
    asks_path: bool,
    /// Ids of the rules it is for; empty is all.
    rules: Vec<String>,
}

impl Allowlist {
    /// Whether a match is let pass.
    pub(crate) fn allows(&self, secret: &[u8], matched: &[u8], line: &[u8]) -> bool {
        let target = match self.target {
            Target::Secret => secret,
            Target::Match => matched,
            Target::Line => line,
        };
        let by_regex = self.regexes.iter().any(|regex| regex.is_match(target));
        let lower = secret.to_ascii_lowercase();
        let by_word = self.stopwords.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some());
        if self.all {
            !self.asks_path
                && (self.regexes.is_empty() || by_regex)
                && (self.stopwords.is_empty() || by_word)
                && !(self.regexes.is_empty() && self.stopwords.is_empty())
        } else {
            by_regex || by_word
        }
    }
}

/// What a file says beside its rules.
#[derive(Debug, Default)]
pub(super) struct Extends {
    /// Ids of rules of other files that do not apply.
    pub(super) disabled: Vec<String>,
}

/// Whether a file is one of gitleaks: its rules are `[[rules]]`, those of the scanner `[[rule]]`.
pub(super) fn is_one(root: &Table<'_>) -> bool {
    root.keys().iter().any(|key| matches!(key.value, "rules" | "allowlist" | "allowlists" | "extend"))
}

const RULE_KEYS: &[&str] = &[
    "id",
    "description",
    "regex",
    "secretGroup",
    "entropy",
    "keywords",
    "path",
    "tags",
    "allowlist",
    "allowlists",
    "skipReport",
    // Told by themselves.
    "required",
];
const ALLOWLIST_KEYS: &[&str] =
    &["id", "description", "condition", "commits", "paths", "regexTarget", "regexes", "stopwords", "targetRules"];

/// Most bytes of one automaton: those of public files have repetitions of repetitions, and need more than ours.
const NFA_BYTES: usize = 16 * 1024 * 1024;

/// Reads one file.
pub(super) fn file(
    name: &str,
    root: &Table<'_>,
    seen: &mut BTreeMap<String, String>,
    rules: &mut Vec<TextRule>,
) -> Result<Extends, SettingsError> {
    root.only(&["title", "description", "minVersion", "extend", "rules", "allowlist", "allowlists"])?;
    let extends = extend(root)?;
    let global = allowlists(root)?;
    let tables = root.tables("rules")?;
    if tables.len() > RULES_MOST {
        return Err(root.error(format!("more than {RULES_MOST} rules in one file")));
    }
    for table in &tables {
        let id = table.required("id")?;
        let rule = rule(name, table, &id, &global)?;
        if let Some(other) = seen.insert(rule.rule.id.to_string(), name.to_owned()) {
            return Err(id.error(format!("the id \"{}\" is taken by a rule in {other}", id.value)));
        }
        rules.push(rule);
    }
    Ok(extends)
}

fn extend(root: &Table<'_>) -> Result<Extends, SettingsError> {
    let Some(table) = root.table("extend")? else { return Ok(Extends::default()) };
    table.only(&["useDefault", "path", "url", "disabledRules"])?;
    table.boolean("useDefault")?;
    if let Some(path) = table.string("path")? {
        return Err(path.error("\"extend.path\" is not followed: give that file with --rules as well"));
    }
    if let Some(url) = table.string("url")? {
        return Err(url.error("\"extend.url\" is not fetched: give the file with --rules"));
    }
    let disabled = table.strings("disabledRules")?.unwrap_or_default();
    Ok(Extends { disabled: disabled.iter().map(|id| full_id(id.value)).collect() })
}

/// `allowlist` is the older spelling of one `allowlists`.
fn allowlists(table: &Table<'_>) -> Result<Vec<Arc<Allowlist>>, SettingsError> {
    let old = table.table("allowlist")?;
    let all = old.into_iter().chain(table.tables("allowlists")?);
    all.map(|list| allowlist(&list).map(Arc::new)).collect()
}

fn allowlist(table: &Table<'_>) -> Result<Allowlist, SettingsError> {
    table.only(ALLOWLIST_KEYS)?;
    let all = match table.string("condition")? {
        None => false,
        Some(word) if ["AND", "&&"].contains(&word.value.to_ascii_uppercase().as_str()) => true,
        Some(word) if ["OR", "||"].contains(&word.value.to_ascii_uppercase().as_str()) => false,
        Some(word) => return Err(word.error("\"condition\" is AND or OR")),
    };
    let target = table
        .string("regexTarget")?
        .map(|target| target.one_of("regexTarget", &Target::ALL, Target::name))
        .transpose()?;
    let asks_path = table.strings("paths")?.is_some() || table.strings("commits")?.is_some();
    let words = table.strings("stopwords")?.unwrap_or_default();
    Ok(Allowlist {
        target: target.unwrap_or(Target::Secret),
        regexes: table.strings("regexes")?.unwrap_or_default().iter().map(compile).collect::<Result<_, _>>()?,
        stopwords: words.iter().map(|word| word.value.to_ascii_lowercase()).filter(|word| !word.is_empty()).collect(),
        all,
        asks_path,
        rules: table.strings("targetRules")?.unwrap_or_default().iter().map(|id| id.value.to_owned()).collect(),
    })
}

fn rule(
    file: &str,
    table: &Table<'_>,
    id: &At<'_, &str>,
    global: &[Arc<Allowlist>],
) -> Result<TextRule, SettingsError> {
    table.only(RULE_KEYS)?;
    if !table.tables("required")?.is_empty() {
        return Err(table.error("\"required\" (rules made of several) is not supported"));
    }
    let regex = table.string("regex")?;
    let path = table.string("path")?;
    if regex.is_none() && path.is_none() {
        return Err(table.error("a rule has a \"regex\", a \"path\" or both"));
    }
    let source = regex.as_ref().map(|regex| regex.value.to_owned()).unwrap_or_default();
    let description = table.string("description")?.map_or(id.value, |text| text.value).trim().to_owned();
    let keywords = table.strings("keywords")?.unwrap_or_default();
    let mut allowed = allowlists(table)?;
    allowed.extend(
        global.iter().filter(|list| list.rules.is_empty() || list.rules.iter().any(|rule| rule == id.value)).cloned(),
    );
    let is_generic = id.value.contains("generic");
    let gitleaks = Gitleaks {
        keywords: keywords.iter().map(|word| word.value.to_ascii_lowercase()).filter(|word| !word.is_empty()).collect(),
        regex: regex.as_ref().map(compile).transpose()?,
        path: path.as_ref().map(compile).transpose()?,
        group: table
            .number("secretGroup")?
            .map_or(Ok(0), |group| usize::try_from(group.value).map_err(|error| group.error(error.to_string())))?,
        entropy_hundredths: table.hundredths("entropy")?.unwrap_or(0),
        allowed,
    };
    Ok(TextRule {
        rule: Arc::new(Rule {
            id: full_id(id.value).into(),
            title: description.into(),
            why: "A rule of the operator's own file says that this is a secret.".into(),
            remedy: "Withhold the output, revoke the secret at its issuer, and find out how it got into the output."
                .into(),
            category: category(id.value).into(),
            severity: if is_generic { Severity::Medium } else { Severity::High },
            confidence: if is_generic { Confidence::Medium } else { Confidence::High },
        }),
        anchors: Vec::new(),
        pattern: Pattern::new("", true),
        regex: source,
        examples: Vec::new(),
        counterexamples: Vec::new(),
        file: file.to_owned(),
        weak: false,
        same_line: false,
        before: 0,
        public_prefix: 0,
        entropy_tenths: 0,
        proof: None,
        applies_to: Vec::new(),
        gitleaks: Some(Box::new(gitleaks)),
    })
}

/// Ids there have letters and signs that ids here have not.
fn full_id(id: &str) -> String {
    let mut out = String::from("gitleaks/");
    for byte in id.bytes() {
        let byte = byte.to_ascii_lowercase();
        let is_plain = byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if is_plain {
            out.push(char::from(byte));
        } else if !out.ends_with(['-', '/']) {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// The category that an id speaks of.
fn category(id: &str) -> &'static str {
    const KINDS: &[(&str, &[&str])] = &[
        ("secret.key", &["private-key", "age-secret", "pkcs"]),
        ("secret.vcs", &["github", "gitlab", "bitbucket", "npm", "pypi", "rubygems", "docker", "jfrog", "artifactory"]),
        ("secret.cloud", &["aws", "gcp", "azure", "alibaba", "digitalocean", "heroku", "cloudflare", "fly", "linode"]),
        ("secret.ai", &["openai", "anthropic", "huggingface", "cohere", "perplexity"]),
        ("secret.payment", &["stripe", "square", "plaid", "flutterwave", "paypal", "coinbase", "shopify"]),
        ("secret.messaging", &["slack", "discord", "telegram", "twilio", "sendgrid", "mailgun", "mailchimp", "teams"]),
        ("secret.password", &["password", "curl-auth-user", "basic-auth"]),
        ("secret.database", &["database", "postgres", "mysql", "mongo", "planetscale"]),
        ("secret.generic", &["generic"]),
    ];
    KINDS
        .iter()
        .find(|(_, words)| words.iter().any(|word| id.to_ascii_lowercase().contains(word)))
        .map_or("secret.token", |(category, _)| category)
}

fn compile(source: &At<'_, &str>) -> Result<Regex, SettingsError> {
    if source.value.len() > REGEX_LONGEST {
        return Err(source.error(format!("a regex of more than {REGEX_LONGEST} bytes")));
    }
    Regex::builder()
        // As RE2: classes are ASCII, a text is bytes.
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(Regex::config().utf8_empty(false).nfa_size_limit(Some(NFA_BYTES)))
        .build(&translated(source.value))
        .map_err(|error| {
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            source.error(why.lines().last().unwrap_or("not a regex").trim_start_matches("error: ").to_owned())
        })
}

/// RE2 takes a brace that begins no repetition, and a bracket or doubled sign inside a class, for themselves; here they
/// must be escaped.
fn translated(regex: &str) -> String {
    let mut out = String::with_capacity(regex.len().saturating_add(16));
    let mut rest = regex;
    let mut in_class = false;
    let mut at_class_start = false;
    while let Some(first) = rest.chars().next() {
        let (token, after) = if first == '\\' {
            let length = rest.chars().take(2).map(char::len_utf8).sum();
            rest.split_at_checked(length).unwrap_or((rest, ""))
        } else if in_class && rest.starts_with("[:") {
            let length = rest.find(":]").map_or(1, |end| end.saturating_add(2));
            rest.split_at_checked(length).unwrap_or((rest, ""))
        } else {
            rest.split_at_checked(first.len_utf8()).unwrap_or((rest, ""))
        };
        rest = after;
        let was_start = std::mem::take(&mut at_class_start);
        match token {
            "[" if in_class => out.push_str("\\["),
            "[" => {
                in_class = true;
                at_class_start = true;
                out.push('[');
            }
            "^" if was_start => {
                at_class_start = true;
                out.push('^');
            }
            "]" if in_class && was_start => out.push_str("\\]"),
            "]" => {
                in_class = false;
                out.push(']');
            }
            "&" | "~" if in_class => {
                out.push('\\');
                out.push_str(token);
            }
            "{" if !in_class && !is_repetition(rest) => out.push_str("\\{"),
            _ => out.push_str(token),
        }
    }
    out
}

/// Whether what follows a brace makes it a repetition: `3}`, `3,}`, `3,5}`.
fn is_repetition(rest: &str) -> bool {
    let Some((inside, _)) = rest.split_once('}') else { return false };
    let (low, high) = inside.split_once(',').unwrap_or((inside, ""));
    !low.is_empty() && low.bytes().chain(high.bytes()).all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_re2_takes_for_itself_is_escaped() {
        for (regex, expected) in [
            (r"^\$(?:\d+|{\d+})$", r"^\$(?:\d+|\{\d+})$"),
            (r"a{2,3}b{2}c{2,}", r"a{2,3}b{2}c{2,}"),
            (r"[[a&&b]", r"[\[a\&\&b]"),
            (r"[[:alnum:]_]", r"[[:alnum:]_]"),
            (r"[]a]", r"[\]a]"),
            (r"[^]a]", r"[^\]a]"),
            (r"\[{x}\]", r"\[\{x}\]"),
        ] {
            assert_eq!(translated(regex), expected, "{regex}");
            assert!(Regex::new(&translated(regex)).is_ok(), "{regex}");
        }
    }

    #[test]
    fn ids_become_ours() {
        assert_eq!(full_id("1password-secret-key"), "gitleaks/1password-secret-key");
        assert_eq!(full_id("My Rule_2"), "gitleaks/my-rule-2");
    }
}
