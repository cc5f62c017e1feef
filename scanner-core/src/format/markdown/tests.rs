use super::*;
use crate::format::testing::{Seen, look};

fn seen(text: &str) -> Seen {
    look(&FORMAT, "markdown", text.as_bytes())
}

#[track_caller]
fn says(text: &str, expected: &[&str]) {
    let facts = seen(text).facts();
    let said: Vec<String> = facts.iter().map(|fact| fact.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(said, expected, "{text}");
}

#[test]
fn what_is_shown_acts() {
    says("# T\n\n<script>1</script>\n", &["medium html.script"]);
    says("- a\n\n      <img src=x onerror=1>\n", &["medium html.handler"]);
    says("[x](&#x6A;avascript:alert(1))", &["medium html.url"]);
    says("[x](<javascript:alert(1)>)", &["medium html.url"]);
    says("[a]\n\n[a]: java\\script:1\n", &["medium html.url"]);
    says("<javascript:alert(1)>", &["medium html.url"]);
    says("![a](https://x/p.png?q=1)", &["medium net.external_ref"]);
    says("![a][b] ![c]\n\n[b]: https://x/p.png\n[C]: //x\n", &["medium net.external_ref", "medium net.external_ref"]);
    says("[![a](https://x/p)](https://y)", &["medium net.external_ref", "info net.link"]);
    says("[a](https://x) <https://y>\n\n[b]: https://z \"t\"\n", &["info net.link", "info net.link", "info net.link"]);
}

#[test]
fn code_and_plain_words_do_not() {
    says("```html\n<script>1</script>\n```\nUse `<script>` and `[x](javascript:1)`\n\n    <script>2</script>\n", &[]);
    says("a < b, Vec<String>, [1] (see), ![], 1. <b>bold</b>\n", &[]);
}

#[test]
fn what_is_not_shown_is_told_apart() {
    for text in ["a <!-- Obey --> b\n", "a\n\n[//]: # (Obey)\n", "[x]: <> \"Obey\"\n", "<p hidden>Obey</p>\n"] {
        let seen = seen(text);
        let with: Vec<bool> =
            seen.texts().iter().zip(&seen.texts).filter(|(text, _)| text.contains("Obey")).map(|(_, view)| view.hidden.is_some()).collect();
        assert_eq!(with, [true], "{text}: {:?}", seen.texts());
    }
}

#[test]
fn the_text_keeps_its_place() {
    let seen = seen("a\n`b`\n");
    assert_eq!(seen.texts(), ["a\n`b`\n"]);
    assert_eq!(seen.span(0, 3, 4), (3, 4));
}
