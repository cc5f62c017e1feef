//! What the target of a link reaches, and what that means for what it is used for.

use memchr::memmem;

use super::rules;
use crate::finding::{Rule, Severity};

/// What a document does with a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Followed when a reader clicks.
    Link,
    /// Shown or played: loaded when the document opens.
    Media,
    /// The template: loaded when the document opens, with its macros.
    Template,
    /// An object that another program shows: loaded and given to that program.
    Object,
    /// A page inside the page.
    Frame,
    /// Data that are refreshed: another workbook, a database, a query.
    Data,
    /// Anything else that a program may load.
    Other,
}

/// Where a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// In the document, or nowhere.
    Inside,
    /// A file beside the document.
    Beside,
    /// A file on the reader's machine.
    Local,
    /// A mail to write, a number to call.
    Mail,
    /// On the web.
    Web,
    /// A share of another machine: asking for it sends the reader's credentials.
    Share,
    /// Code in the address itself.
    Script,
    /// A protocol that starts a program.
    Protocol,
}

/// Protocols by which documents have started programs, and what did.
const PROTOCOLS: [&[u8]; 12] = [
    b"ms-msdt",
    b"search-ms",
    b"search",
    b"ms-officecmd",
    b"ms-appinstaller",
    b"ms-cxh",
    b"ms-settings",
    b"ms-search",
    b"mhtml",
    b"shell",
    b"script",
    b"vnd.sun.star.expand",
];

/// Where a target is. Blanks before it do not hinder programs, nor does the case of its scheme.
pub(crate) fn reach(target: &[u8]) -> Reach {
    let target = target.trim_ascii();
    let Some(first) = target.first() else { return Reach::Inside };
    if *first == b'#' {
        return Reach::Inside;
    }
    let is_slash = |byte: Option<&u8>| matches!(byte, Some(b'/' | b'\\'));
    if is_slash(target.first()) && is_slash(target.get(1)) {
        return Reach::Share;
    }
    let colon = target.iter().take(40).position(|byte| *byte == b':');
    let scheme = colon.and_then(|colon| target.get(..colon)).unwrap_or_default().to_ascii_lowercase();
    let behind = colon.and_then(|colon| target.get(colon.saturating_add(1)..)).unwrap_or_default();
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    match scheme.as_slice() {
        [] if is_slash(Some(first)) => Reach::Local,
        _ if !is_scheme => Reach::Beside,
        // A drive letter.
        [_] => Reach::Local,
        b"http" | b"https" | b"ftp" | b"ftps" | b"dav" | b"davs" | b"webdav" | b"sftp" | b"ms-word" | b"ms-excel"
        | b"ms-powerpoint" | b"ws" | b"wss" | b"ldap" | b"ldaps" | b"gopher" => Reach::Web,
        b"file" => file(behind),
        b"smb" | b"cifs" | b"nfs" => Reach::Share,
        b"javascript" | b"vbscript" | b"livescript" | b"jscript" => Reach::Script,
        b"data" => data(behind),
        b"mailto" | b"tel" | b"sms" | b"callto" | b"sip" | b"xmpp" | b"skype" | b"news" | b"nntp" | b"urn" | b"doi"
        | b"geo" | b"cid" | b"about" | b"onenote" | b"msteams" | b"slack" | b"zoommtg" | b"tencent" | b"magnet" => {
            Reach::Mail
        }
        // Addresses inside the program's own document.
        b"vnd.sun.star.pkg" | b"vnd.sun.star.graphicobject" => Reach::Inside,
        b"vnd.sun.star.script" | b"macro" | b"vnd.sun.star.webdav" | b"slot" | b"service" | b".uno" => Reach::Inside,
        known if PROTOCOLS.contains(&known) => Reach::Protocol,
        _ => Reach::Mail,
    }
}

/// Behind `file:`: a host makes it a share.
fn file(behind: &[u8]) -> Reach {
    let slashes = behind.iter().take_while(|byte| matches!(byte, b'/' | b'\\')).count();
    let rest = behind.get(slashes..).unwrap_or_default();
    let is_drive = rest.get(1).is_some_and(|byte| matches!(byte, b':' | b'|')) || rest.starts_with(b"%");
    let is_here = rest.get(..10).is_some_and(|host| host.eq_ignore_ascii_case(b"localhost/"));
    match slashes {
        _ if is_drive || is_here => Reach::Local,
        0 => Reach::Beside,
        // `file:///etc/x` is a path; with a backslash or a fourth slash a host follows.
        1 | 3 if !behind.starts_with(b"\\\\") && !behind.get(..3).is_some_and(|marks| marks.ends_with(b"\\")) => {
            Reach::Local
        }
        _ => Reach::Share,
    }
}

/// Behind `data:`: a page or script acts, a picture does not.
fn data(behind: &[u8]) -> Reach {
    let head = behind.get(..64).unwrap_or(behind).to_ascii_lowercase();
    let is_active =
        [&b"html"[..], b"javascript", b"svg", b"xml"].iter().any(|word| memmem::find(&head, word).is_some());
    if is_active { Reach::Script } else { Reach::Inside }
}

type Said = (&'static Rule, Severity, &'static str);

/// What is to be said of a target that is used so.
pub(crate) fn judge(used: Use, target: &[u8]) -> Vec<Said> {
    let reached = reach(target);
    let mut said: Vec<Said> = Vec::new();
    match (used, reached) {
        (_, Reach::Inside) => {}
        (_, Reach::Protocol) => {
            said.push((&rules::PROTOCOL, rules::PROTOCOL.severity, "a link uses a protocol that starts a program"));
        }
        (_, Reach::Script) => {
            said.push((&rules::SCRIPT_LINK, rules::SCRIPT_LINK.severity, "the target of a link is code"));
        }
        (Use::Link, Reach::Web) => said.push((&rules::LINK, Severity::Info, "there is a link to the web")),
        (Use::Link, Reach::Mail | Reach::Beside) => {}
        (Use::Link, Reach::Local) => {
            let (severity, message) = if is_program(target) {
                (Severity::Medium, "a link opens a program of the reader's machine")
            } else {
                (Severity::Low, "a link opens a file of the reader's machine")
            };
            said.push((&rules::REMOTE, severity, message));
        }
        (Use::Link, Reach::Share) => {
            said.push((&rules::REMOTE, Severity::Medium, "a link opens a file on another machine"));
        }
        (Use::Template, Reach::Web | Reach::Share) => {
            said.push((&rules::REMOTE_TEMPLATE, Severity::High, "the template is loaded from another machine"));
        }
        (Use::Object, Reach::Web | Reach::Share) => {
            said.push((&rules::LINKED_OBJECT, Severity::High, "an object is loaded from another machine"));
            said.push((&rules::REMOTE, Severity::High, "an object is loaded from another machine"));
        }
        (Use::Object, _) => {
            said.push((&rules::LINKED_OBJECT, Severity::Low, "an object is kept in a file beside the document"));
        }
        (Use::Frame, Reach::Web | Reach::Share) => {
            said.push((&rules::REMOTE, Severity::High, "a page from another machine is shown in the document"));
        }
        // Asked for when the reader confirms.
        (Use::Data, Reach::Share) => {
            said.push((&rules::REMOTE, Severity::Medium, "data are taken from another machine"));
        }
        (_, Reach::Share) => {
            said.push((&rules::REMOTE, Severity::High, "something is loaded from a share of another machine"));
        }
        (_, Reach::Web) => said.push((&rules::REMOTE, Severity::Medium, "something is loaded from the web")),
        (_, Reach::Local | Reach::Beside) => {
            said.push((&rules::REMOTE, Severity::Low, "something is loaded from a file beside the document"));
        }
        (_, Reach::Mail) => {}
    }
    said
}

/// Whether a target is a page of the web or a mail to write, and nothing else.
pub(crate) fn is_plain(target: &[u8]) -> bool {
    let Some(colon) = target.iter().take(8).position(|byte| *byte == b':') else { return false };
    let (scheme, rest) = target.split_at(colon);
    rest.len() > 1
        && !target.iter().any(u8::is_ascii_control)
        && [&b"http"[..], b"https", b"mailto"].iter().any(|known| known.eq_ignore_ascii_case(scheme))
}

/// Whether a target ends as programs and scripts do.
fn is_program(target: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 22] = [
        b"exe", b"com", b"scr", b"bat", b"cmd", b"ps1", b"vbs", b"vbe", b"js", b"jse", b"wsf", b"hta", b"msi", b"lnk",
        b"url", b"cpl", b"dll", b"pif", b"jar", b"reg", b"sh", b"command",
    ];
    let path = target.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default().trim_ascii_end();
    let ending = path.rsplit(|byte| *byte == b'.').next().unwrap_or_default().to_ascii_lowercase();
    ENDINGS.contains(&ending.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_links() {
        for target in ["http://a", "HTTPS://a/b?c", "mailto:a@b"] {
            assert!(is_plain(target.as_bytes()), "{target}");
        }
        for target in ["", "http:", "ftp://a", "//a", "a", "file:///a", "javascript:a", " http://a", "http://a\n", "#a"]
        {
            assert!(!is_plain(target.as_bytes()), "{target}");
        }
    }

    #[test]
    fn every_spelling_of_a_target() {
        for (target, want) in [
            ("#Sheet1!A1", Reach::Inside),
            ("", Reach::Inside),
            ("../media/a.png", Reach::Beside),
            ("Book2.xlsx", Reach::Beside),
            ("file:Book2.xlsx", Reach::Beside),
            ("http://a.example/", Reach::Web),
            (" HTTPS://a.example/", Reach::Web),
            ("\\\\a.example\\s\\t.dotm", Reach::Share),
            ("//a.example/s", Reach::Share),
            ("file://a.example/s/x.exe", Reach::Share),
            ("file:\\\\a.example\\s", Reach::Share),
            ("file:///\\\\a.example\\s", Reach::Share),
            ("file:////a.example/s", Reach::Share),
            ("file:///C:\\Users\\a\\Normal.dotm", Reach::Local),
            ("file:///c|/x", Reach::Local),
            ("file:///etc/passwd", Reach::Local),
            ("file://localhost/etc", Reach::Local),
            ("C:\\x.docx", Reach::Local),
            ("/Users/a/x.docx", Reach::Local),
            ("mailto:a@b.example", Reach::Mail),
            ("javascript:alert(1)", Reach::Script),
            ("JavaScript:alert(1)", Reach::Script),
            ("data:text/html,x", Reach::Script),
            ("data:image/png;base64,x", Reach::Inside),
            ("ms-msdt:/id PCWDiagnostic", Reach::Protocol),
            ("mhtml:http://a.example!x-usc:http://a.example", Reach::Protocol),
        ] {
            assert_eq!(reach(target.as_bytes()), want, "{target}");
        }
    }
}
