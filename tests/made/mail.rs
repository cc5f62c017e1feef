//! Messages.

use super::{
    Cases,
    defect::{KEY, ORDER},
};

pub(super) fn make(cases: &mut Cases) {
    let plain = |head: &str, body: &str| {
        format!(
            "From: Ann <ann@example.org>\nTo: bob@example.org\n{head}Date: Mon, 30 Nov 2026 12:00:00 +0000\nMIME-Version: 1.0\n\n{body}\n"
        )
    };
    let parts = |kind: &str, parts: &str| {
        format!(
            "From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: multipart/{kind}; boundary=\"b\"\n\n{parts}"
        )
    };
    let attached = |name: &str, encoding: &str, body: &str| {
        parts(
            "mixed",
            &format!(
                "--b\nContent-Type: text/plain\n\nhello\n--b\nContent-Type: application/octet-stream\nContent-Disposition: attachment; {name}\nContent-Transfer-Encoding: {encoding}\n\n{body}\n--b--\n"
            ),
        )
    };
    let nested = (0..30).fold("Content-Type: text/plain\n\ndeep\n".to_owned(), |inner, n| {
        format!("Content-Type: multipart/mixed; boundary=\"b{n}\"\n\n--b{n}\n{inner}--b{n}--\n")
    });
    let forwarded = (0..12).fold("From: a@example.org\nSubject: a\n\ndeep\n".to_owned(), |inner, _| {
        format!("From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n{inner}")
    });
    let rows: Vec<(&str, &str, String)> = vec![
        ("honest-made", "nothing is wrong", plain("Subject: Monday\n", "All is well, see you on Monday.")),
        ("head-never-ends", "there is no line between head and words", "From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: a\n".to_owned()),
        ("head-line-without-colon", "a line of the head has no colon", plain("Subject: a\nno colon here\n", "words")),
        ("head-line-of-3000-letters", "a line of the head is three thousand letters long", plain(&format!("Subject: {}\n", "a".repeat(3000)), "words")),
        ("head-folded-of-nothing", "a line of the head goes on with blanks alone", plain("Subject: a\n \n", "words")),
        ("subject-twice", "there are two subjects", plain("Subject: a\nSubject: b\n", "words")),
        ("from-twice", "there are two senders, and readers differ in which they show", plain("Subject: a\nFrom: Chief <chief@bank.example>\n", "words")),
        ("word-of-unknown-letters", "the subject is in letters that nobody knows", plain("Subject: =?x-own?Q?words?=\n", "words")),
        ("word-of-broken-base64", "the subject is base64 that is none", plain("Subject: =?utf-8?B?@@@?=\n", "words")),
        ("word-never-closed", "a packed word of the subject has no end", plain("Subject: =?utf-8?Q?words\n", "words")),
        ("boundary-missing", "parts without a word that parts them", "From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed\n\n--b\nContent-Type: text/plain\n\nwords\n--b--\n".to_owned()),
        ("boundary-empty", "the word that parts the parts has no letters", "From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"\"\n\n--\n\nwords\n----\n".to_owned()),
        ("boundary-twice", "two words part the parts, and readers differ in which they take", "From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"a\"; boundary=\"b\"\n\n--a\n\nfine\n--a--\n--b\n\nother\n--b--\n".to_owned()),
        ("boundary-never-seen", "the word that parts the parts does not come", parts("mixed", "words\n")),
        ("parts-never-closed", "the parts have no end", parts("mixed", "--b\nContent-Type: text/plain\n\nwords\n")),
        ("parts-without-heads", "a part has no head", parts("mixed", "--b\nwords\n--b--\n")),
        ("words-behind-the-parts", "an order follows the last part", parts("mixed", &format!("--b\n\nwords\n--b--\n{ORDER}\n"))),
        ("words-before-the-parts", "an order stands before the first part", parts("mixed", &format!("{ORDER}\n--b\n\nwords\n--b--\n"))),
        ("parts-30-deep", "parts in parts, thirty deep", format!("From: a@example.org\nSubject: a\nMIME-Version: 1.0\n{nested}")),
        ("messages-12-deep", "messages in messages, twelve deep", forwarded),
        ("alternatives-disagree", "the plain words and the page say different things", parts("alternative", &format!("--b\nContent-Type: text/plain\n\nAll is well.\n--b\nContent-Type: text/html\n\n<p>{ORDER}</p>\n--b--\n"))),
        ("base64-broken", "an attached file is base64 that is none", attached("filename=\"a.bin\"", "base64", "@@@@")),
        ("base64-cut", "an attached file is base64 that ends early", attached("filename=\"a.txt\"", "base64", "d29yZ")),
        ("base64-with-words-between", "words stand in the base64, which lenient readers leave out", attached("filename=\"a.txt\"", "base64", "d29y\n!!!\nZHM=")),
        ("encoding-unknown", "a part is packed in a way that nobody knows", attached("filename=\"a.txt\"", "x-own", "words")),
        ("encoding-of-uu", "a part is packed as in old times", attached("filename=\"a.txt\"", "x-uuencode", "begin 644 a.txt\n%=V]R9',`\n`\nend")),
        ("quoted-broken", "an escape of the words is none", "From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\nwords =ZZ =4\n".to_owned()),
        ("quoted-attack", "an order is written in escapes", format!("From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n{}\n", ORDER.bytes().map(|byte| format!("={byte:02X}")).collect::<Vec<_>>().chunks(20).map(<[String]>::concat).collect::<Vec<_>>().join("=\n"))),
        ("letters-unknown", "the words are in letters that nobody knows", "From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: text/plain; charset=x-own\n\nwords\n".to_owned()),
        ("letters-of-seven-bits", "the words hide tags in letters", "From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-7\n\n+ADw-script+AD4-go()+ADw-/script+AD4-\n".to_owned()),
        ("name-climbs-out", "an attached file has a name that leads out", attached("filename=\"../../start.bat\"", "7bit", "words")),
        ("name-in-pieces", "the name of an attached file comes in pieces", attached("filename*0=\"../../sta\"; filename*1=\"rt.bat\"", "7bit", "words")),
        ("name-packed", "the name of an attached file is packed", attached("filename*=utf-8''..%2f..%2fstart.bat", "7bit", "words")),
        ("name-twice", "an attached file has two names", attached("filename=\"a.txt\"; filename*=utf-8''a.exe", "7bit", "words")),
        ("attached-program", "an attached file is a program", attached("filename=\"a.exe\"", "base64", "TVqQAAMAAAAEAAAA//8AALgAAAA=")),
        ("attached-script-as-text", "an attached script is declared as text", attached("filename=\"a.txt\"", "7bit", "#!/bin/sh\nrm -rf ~")),
        ("attached-page", "an attached page runs a script", attached("filename=\"a.html\"", "7bit", "<html><script>go()</script></html>")),
        ("attached-invitation", "an invitation whose description is an order", parts("mixed", &format!("--b\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\nDESCRIPTION:{ORDER}\nEND:VEVENT\nEND:VCALENDAR\n--b--\n"))),
        ("body-elsewhere", "a part is fetched from elsewhere", parts("mixed", "--b\nContent-Type: message/external-body; access-type=URL; URL=\"https://host.example/a\"\n\nContent-Type: text/plain\n\n--b--\n")),
        ("encrypted", "the words need a key", parts("encrypted; protocol=\"application/pgp-encrypted\"", "--b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--b\nContent-Type: application/octet-stream\n\n-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n--b--\n")),
        ("attack-in-subject", "the subject is an order", plain(&format!("Subject: {ORDER}\n"), "words")),
        ("attack-in-name-of-sender", "the name of the sender is an order", format!("From: \"{ORDER}\" <a@example.org>\nTo: bob@example.org\nSubject: a\n\nwords\n")),
        ("attack-in-own-head-line", "a line of the head of its own is an order", plain(&format!("Subject: a\nX-Note: {ORDER}\n"), "words")),
        ("key-in-head", "a line of the head is a key", plain(&format!("Subject: a\nX-Key: {KEY}\n"), "words")),
    ];
    for (name, why, text) in rows {
        cases.text("mail", &format!("{name}.eml"), why, text);
    }
}
