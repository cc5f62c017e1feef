use super::*;
use crate::format::testing::{Seen, look};

fn mail(text: &str) -> Seen {
    look(&FORMAT, "eml", text.replace('\n', "\r\n").as_bytes())
}

fn said(seen: &Seen) -> Vec<String> {
    let mut said: Vec<String> = seen.facts().iter().map(|fact| fact.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    said.sort();
    said.dedup();
    said
}

const HEAD: &str = "From: a@example.org\nTo: b@example.org\nSubject: x\nMIME-Version: 1.0\n";

fn attached(kind: &str, name: &str, body: &str) -> Seen {
    mail(&format!(
        "{HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nhi\n--b\nContent-Type: {kind}\n\
         Content-Disposition: attachment; filename=\"{name}\"\nContent-Transfer-Encoding: base64\n\n{body}\n--b--\n"
    ))
}

#[test]
fn an_ordinary_mail_is_silent() {
    let seen = mail(&format!("{HEAD}Content-Type: text/plain\n\nhello\n"));
    assert_eq!(said(&seen), Vec::<String>::new());
    assert_eq!(seen.texts().len(), 2);
    let seen = mail(&format!(
        "{HEAD}Content-Type: multipart/alternative; boundary=\"b c\"\n\n--b c\n\nplain\n--b c\nContent-Type: text/html\n\n<p>rich</p>\n--b c--\n"
    ));
    assert_eq!(said(&seen), Vec::<String>::new());
    assert!(seen.texts().iter().any(|text| text.contains("rich") && !text.contains('<')));
}

#[test]
fn what_is_attached_is_told_and_handed_on() {
    let seen = attached("application/pdf", "a.pdf", "JVBERi0xLjQK");
    assert_eq!(said(&seen), ["medium embed.file"]);
    assert_eq!(&seen.children[0].source.packed[..], b"%PDF-1.4\n");
    assert_eq!(seen.children[0].name.as_deref(), Some("a.pdf"));
    assert_eq!(said(&attached("text/csv", "a.csv", "YSxiCjEsMgo=")), ["low embed.file"]);
    assert_eq!(said(&attached("application/octet-stream", "a.exe", "aGk=")), ["high embed.executable", "medium embed.file"]);
    assert_eq!(said(&attached("image/png", "a.png", "TVoAAAAA")).len(), 1);
    let disguised = said(&attached("application/octet-stream", "a\u{202e}fdp.exe", "aGk="));
    assert!(disguised.contains(&"high exec.name".to_owned()), "{disguised:?}");
    let coded = said(&attached("application/octet-stream", "=?utf-8?B?YS5leGU=?=", "aGk="));
    assert!(coded.contains(&"high embed.executable".to_owned()), "{coded:?}");
}

#[test]
fn bodies_are_undone_before_they_are_read() {
    let seen = mail(&format!("{HEAD}Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\naGVsbG8gd29ybGQ=\n"));
    assert!(seen.texts().contains(&"hello world".to_owned()));
    let seen = mail(&format!("{HEAD}Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<img onerror=3D1>\n"));
    assert_eq!(said(&seen), ["medium html.handler"]);
    let seen = mail("Subject: =?utf-8?B?T2JleQ==?=\nFrom: a\nTo: b\n\nx\n");
    assert!(seen.texts().contains(&"Obey".to_owned()));
}

#[test]
fn a_mail_in_a_mail_is_a_child() {
    let seen = mail(&format!("{HEAD}Content-Type: message/rfc822\n\nFrom: c\nSubject: y\n\nhi\n"));
    assert_eq!(said(&seen), Vec::<String>::new());
    assert!(seen.children[0].source.packed.starts_with(b"From: c"));
}

#[test]
fn nesting_has_an_end() {
    let mut text = HEAD.to_owned();
    for level in 0..60 {
        text.push_str(&format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n"));
    }
    let said = said(&mail(&text));
    assert!(said.contains(&"high bomb.recursion".to_owned()), "{said:?}");
}

#[test]
fn a_box_has_many_messages() {
    let one = "From a@b Mon Jan  1 00:00:00 2024\nFrom: a\nSubject: x\nContent-Disposition: attachment; filename=a.scr\n\nbody\n\n";
    let seen = look(&FORMAT, "mbox", one.repeat(3).as_bytes());
    assert_eq!(seen.children.len(), 3);
    assert_eq!(seen.findings[0].place.0.len(), 1);
}

#[test]
fn a_boundary_that_never_comes_hides_nothing() {
    let seen = mail(&format!("{HEAD}Content-Type: multipart/mixed; boundary=zz\n\nObey\n"));
    assert!(seen.texts().iter().any(|text| text.contains("Obey")));
}

proptest::proptest! {
    #[test]
    fn no_mail_panics(text in "(--b|--|[a-c:;=\"\r\n ]|Content-Type: multipart/mixed; boundary=b|\n\n){0,40}") {
        look(&FORMAT, "eml", text.as_bytes());
        look(&FORMAT, "mbox", text.as_bytes());
    }
}
