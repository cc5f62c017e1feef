//! Small texts that start something when they are opened: shortcuts, setup files, queries, scripts in markup. By what
//! they are built of, since their types are ordinary text, `ini`, XML or HTML to everybody else.

use memchr::memmem;

use super::runs;
use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity, Span},
    format::Out,
    reader::count,
    view::TextView,
};

/// What makes a text a launcher stands in its first bytes.
const LOOKED_AT: usize = 64 * 1024;

pub(in crate::format) static SHORTCUT: Rule =
    runs("launcher/shortcut", "exec.shortcut", "A shortcut, which starts what it names");
pub(in crate::format) static SETUP: Rule =
    runs("launcher/setup", "exec.config", "A setup file, which installs what it names");
pub(in crate::format) static QUERY: Rule =
    runs("launcher/web-query", "net.external_ref", "A web query, which a spreadsheet program sends when it is opened");
pub(in crate::format) static NETWORK_FOLDER: Rule = runs(
    "launcher/network-folder",
    "exec.shortcut",
    "A description of folders elsewhere, which a file manager visits by itself",
);
pub(in crate::format) static MARKUP_SCRIPT: Rule =
    runs("launcher/markup-script", "exec.script", "A Windows application or component written as markup");
pub(in crate::format) static ENCODED_SCRIPT: Rule =
    runs("launcher/encoded-script", "exec.script", "A script for Windows in its encoded form");
pub(in crate::format) static XSLT_SCRIPT: Rule =
    runs("launcher/xslt-script", "exec.script", "A style sheet with a script that runs when it is applied");
pub(in crate::format) static YAML_TAG: Rule =
    runs("launcher/yaml-tag", "exec.yaml_tag", "YAML that calls a function when it is loaded");

pub(in crate::format) static WEB_SHORTCUT: Rule = Rule::built_in(
    "launcher/web-shortcut",
    "exec.shortcut",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A shortcut to a web page",
        why: "It opens a page that is not part of the result, and looks like a document.",
        remedy: "Deliver the address as text instead.",
    },
);

pub(in crate::format) static ENCODED_COMMAND: Rule = Rule::built_in(
    "launcher/encoded-command",
    "exec.script",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A command for Windows whose words are encoded",
        why: "Nobody can read what it does before it runs: that is what the encoding is mostly used for.",
        remedy: "Decode it and read it before it goes on.",
    },
);

pub(in crate::format) static REACHES_OUT: Rule = Rule::built_in(
    "launcher/reaches-out",
    "net.external_ref",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A launcher that points at another machine",
        why: "Showing or opening it contacts that machine, which can tell who looked, and on Windows gets a proof of the password.",
        remedy: "Do not deliver it; if the address is needed, deliver it as text.",
    },
);

/// Says if the text, as decoded, is one.
pub(in crate::format) fn look(label: &str, view: &TextView, out: &mut Out<'_>) {
    let text = &view.text;
    let head = text.get(..LOOKED_AT).unwrap_or(text).to_ascii_lowercase();
    let rule = match label {
        "ini" | "toml" => sections(&head),
        "xml" | "html" => markup(&head),
        // A tag may stand anywhere.
        "yaml" => yaml(text),
        // A stream comes as plain text too: only what cannot be part of an ordinary one.
        "txt" | "text-other" => other(&head),
        _ => None,
    };
    let Some(rule) = rule else { return };
    let mut find = |rule| {
        let finding = Finding::built_in(rule);
        out.find(match view.map.as_ref().map(|map| map.span(0, count(head.len()))) {
            Some(Span { start, end }) => finding.at(start, end),
            None => finding,
        });
    };
    find(rule);
    // With a third slash it is a file of the same machine.
    let mut shares = memmem::find_iter(&head, b"file://").filter_map(|at| head.get(at.checked_add(7)?));
    let is_elsewhere =
        ["=\\\\", ">\\\\", "codebase=\"http"].iter().any(|mark| has(&head, mark)) || shares.any(|next| *next != b'/');
    if matches!(&*rule.category, "exec.shortcut" | "exec.config") && is_elsewhere {
        find(&REACHES_OUT);
    }
}

fn has(text: &[u8], words: &str) -> bool {
    memmem::find(text, words.as_bytes()).is_some()
}

/// The lines that are neither blank nor comments.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| matches!(byte, b'\n' | b'\r'))
        .map(<[u8]>::trim_ascii)
        .filter(|line| !matches!(line, [] | [b'#' | b';', ..]))
}

/// Files of sections and keys: the first section says what it is.
fn sections(head: &[u8]) -> Option<&'static Rule> {
    // Windows takes that section wherever it stands.
    if lines(head).any(|line| line == b"[internetshortcut]") {
        let url = lines(head).find_map(|line| line.strip_prefix(b"url="))?;
        let is_web = url.starts_with(b"http://") || url.starts_with(b"https://");
        return Some(if is_web && !has(head, "\niconfile=\\\\") { &WEB_SHORTCUT } else { &SHORTCUT });
    }
    match lines(head).next()? {
        b"[desktop entry]" => {
            lines(head).any(|line| line.starts_with(b"exec=") || line.starts_with(b"url=")).then_some(&SHORTCUT)
        }
        b"[shell]" => lines(head).any(|line| line.starts_with(b"command=")).then_some(&SHORTCUT),
        b"[autorun]" => Some(&SETUP),
        b"[version]" => lines(head).any(|line| line.starts_with(b"signature=")).then_some(&SETUP),
        _ => None,
    }
}

fn markup(head: &[u8]) -> Option<&'static Rule> {
    // What a root element says counts, not what a text somewhere quotes.
    let root = lines(head).find(|line| !line.starts_with(b"<?") && !line.starts_with(b"<!")).unwrap_or_default();
    let root = if root.is_empty() { head } else { root };
    // A declaration and the root may share a line.
    let begins =
        |name: &str| root.starts_with(name.as_bytes()) || has(head.get(..512).unwrap_or(head), &format!("?>{name}"));
    // Elements stand close together or on lines of their own.
    let close: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_property_list = begins("<plist") || has(head, "<plist");
    let leads_to = |what: &str| has(&close, &format!("<key>url</key><string>{what}"));
    if begins("<jnlp") || begins("<pcsettings") || is_installation(head, &begins) {
        Some(&SHORTCUT)
    } else if begins("<librarydescription") || begins("<searchconnectordescription") || begins("<persistedquery") {
        Some(&NETWORK_FOLDER)
    } else if begins("<scriptlet")
        || begins("<component>")
        || begins("<mmc_consolefile")
        || begins("<package") && (has(&close, "<package><job") || has(&close, "<package><component"))
        || begins("<job") && has(&close, "<script")
        || has(head, "<hta:application")
    {
        Some(&MARKUP_SCRIPT)
    } else if is_property_list && (has(head, "<key>commandstring</key>") || leads_to("file:")) {
        Some(&SHORTCUT)
    } else if is_property_list && leads_to("") {
        Some(&WEB_SHORTCUT)
    } else {
        None
    }
}

/// A program that is fetched and installed at a double click (`ClickOnce`).
fn is_installation(head: &[u8], begins: &impl Fn(&str) -> bool) -> bool {
    (begins("<asmv1:assembly") || begins("<assembly"))
        && has(head, "urn:schemas-microsoft-com:asm.v")
        && has(head, "<deployment")
}

/// Tags that the unsafe loader of Python calls (`!!python/object/apply:os.system`), or that of Java and Ruby.
fn yaml(text: &[u8]) -> Option<&'static Rule> {
    ["!!python/object", "!!python/name", "!!python/module", "!!javax.script.", "!ruby/object"]
        .iter()
        .any(|tag| has(text, tag))
        .then_some(&YAML_TAG)
}

fn other(head: &[u8]) -> Option<&'static Rule> {
    if head.starts_with(b"#@~^") {
        return Some(&ENCODED_SCRIPT);
    }
    if head.starts_with(b"!!python/") {
        return yaml(head);
    }
    let mut lines = lines(head);
    let first = lines.next()?;
    if is_encoded_command(first) {
        return Some(&ENCODED_COMMAND);
    }
    // A program that is fetched and installed, and a session on another machine.
    if first.starts_with(b"http") && has(first, ".application#") || has(head, "full address:s:") {
        return Some(&SHORTCUT);
    }
    let is_query = matches!(first, b"web" | b"xlodbc")
        && lines.next() == Some(b"1")
        && lines.next().is_some_and(|line| {
            [&b"http"[..], b"\\\\", b"driver=", b"dsn="].iter().any(|start| line.starts_with(start))
        });
    is_query.then_some(&QUERY)
}

/// `powershell -NoProfile -EncodedCommand <base64>`, with the option cut as short as it may be. Lower case.
fn is_encoded_command(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    if !matches!(words.next(), Some(b"powershell" | b"powershell.exe" | b"pwsh")) {
        return false;
    }
    let is_option = |word: &[u8]| word.len() > 1 && b"-encodedcommand".starts_with(word) || word == b"-ec";
    // Options may have values, so every word is looked at.
    let mut words = words.skip_while(|word| !is_option(word)).skip(1);
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    words.next().is_some_and(|word| word.len() >= 16 && word.iter().all(is_digit))
}

#[cfg(test)]
mod tests {
    use crate::format::{testing::look, text};

    #[track_caller]
    fn says(label: &'static str, content: &str, expected: &[&str]) {
        let facts = look(&text::FORMAT, label, content.as_bytes()).facts();
        let facts: Vec<String> = facts.iter().map(|fact| fact.replace(&format!(" 0..{}", content.len()), "")).collect();
        assert_eq!(facts, expected, "{content}");
    }

    #[test]
    fn each_launcher_is_named() {
        says(
            "ini",
            "[InternetShortcut]\r\nURL=file://host/share/a.exe\r\n",
            &["high exec.shortcut", "medium net.external_ref"],
        );
        says("ini", "[InternetShortcut]\nURL=https://example.org/\n", &["medium exec.shortcut"]);
        says(
            "ini",
            "[InternetShortcut]\nURL=https://example.org/\nIconFile=\\\\host\\a.ico\n",
            &["high exec.shortcut", "medium net.external_ref"],
        );
        says("ini", "# by hand\n[Desktop Entry]\nType=Application\nExec=sh -c true\n", &["high exec.shortcut"]);
        says(
            "ini",
            "[Shell]\nCommand=2\nIconFile=\\\\host\\a.ico\n",
            &["high exec.shortcut", "medium net.external_ref"],
        );
        says("ini", "[Version]\nSignature=\"$CHICAGO$\"\n[DefaultInstall]\n", &["high exec.config"]);
        says("ini", "[autorun]\nopen=a.exe\n", &["high exec.config"]);
        says("xml", "<jnlp codebase=\"http://host\"></jnlp>", &["high exec.shortcut", "medium net.external_ref"]);
        says("xml", "<?xml version=\"1.0\"?><libraryDescription xmlns=\"x\">", &["high exec.shortcut"]);
        says("xml", "<?xml version=\"1.0\"?>\n<scriptlet><script>1</script></scriptlet>", &["high exec.script"]);
        says("html", "<html><HTA:APPLICATION ID=\"a\"/></html>", &["high exec.script"]);
        says("xml", "<?xml version=\"1.0\"?><plist><dict><key>CommandString</key>", &["high exec.shortcut"]);
        says(
            "xml",
            "<?xml version=\"1.0\"?><plist><dict><key>URL</key><string>https://x</string>",
            &["medium exec.shortcut"],
        );
        says(
            "xml",
            "<plist>\n<dict>\n\t<key>URL</key>\n\t<string>file:///Applications/a.app</string>",
            &["high exec.shortcut"],
        );
        says("xml", "<package>\n <job id=\"a\"><script>1</script></job></package>", &["high exec.script"]);
        says("xml", "<PCSettings><SearchableContent/></PCSettings>", &["high exec.shortcut"]);
        says("xml", "<?xml version=\"1.0\"?><persistedQuery version=\"1.0\">", &["high exec.shortcut"]);
        says("xml", "<MMC_ConsoleFile ConsoleVersion=\"3.0\">", &["high exec.script"]);
        says(
            "xml",
            "<asmv1:assembly xmlns=\"urn:schemas-microsoft-com:asm.v2\"><deployment install=\"true\"/>",
            &["high exec.shortcut"],
        );
        says("txt", "http://host/a.application#a.application, Culture=neutral", &["high exec.shortcut"]);
        says("txt", "screen mode id:i:2\nfull address:s:host\n", &["high exec.shortcut"]);
        says("txt", "XLODBC\n1\nDRIVER=SQL Server;SERVER=host\n", &["high net.external_ref"]);
        says("yaml", "a: !!python/object/apply:os.system [id]\n", &["high exec.yaml_tag"]);
        says("txt", "#@~^AAAAAA==^#~@", &["high exec.script"]);
        says("toml", "[Version]\nSignature=\"$CHICAGO$\"\n", &["high exec.config"]);
        says("ini", "[x]\na=1\n[InternetShortcut]\nURL=https://example.org/\n", &["medium exec.shortcut"]);
        says("txt", "!!python/object/apply:os.system [id]\n", &["high exec.yaml_tag"]);
        says("txt", "powershell -NoProfile -enc VwByAGkAdABlAC0ASABvAHMAdAA=\n", &["medium exec.script"]);
        says("txt", "WEB\n1\nhttp://host/x\n", &["high net.external_ref"]);
    }

    #[test]
    fn ordinary_text_is_none() {
        says("ini", "[server]\nport=80\n[Desktop Entry]\nExec=x\n", &[]);
        says("ini", "[Desktop Entry]\nType=Directory\n", &[]);
        says("ini", "[version]\nmajor=1\n", &[]);
        says("txt", "[InternetShortcut]\nURL=file://host/a.exe\n", &[]);
        says("txt", "powershell -enc runs encoded commands\n", &[]);
        says("txt", "WEB\nsearch results\n", &[]);
        says("xml", "<note>A &lt;scriptlet> is a component</note>", &[]);
        says("xml", "<plist><dict><key>Label</key><string>x</string></dict></plist>", &[]);
        says("html", "<html><p>HTA files start with &lt;hta:application&gt;</p></html>", &[]);
        says("yaml", "tag: python/object\n", &[]);
    }
}
