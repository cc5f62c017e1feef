use crate::format::{cleaning::testing, notebook::FORMAT, testing::look};

/// A notebook with one cell of code and this output, cleaned: what became of the output.
#[track_caller]
fn output(output: &str) -> String {
    let whole = |output: &str| {
        format!(
            "{{\n \"cells\": [\n  {{\"cell_type\": \"code\", \"metadata\": {{}}, \"source\": \"<b onclick=1>\", \"outputs\": [{output}]}}\n ],\n \"metadata\": {{}},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}}\n"
        )
    };
    let clean = cleaned(&whole(output));
    let marks = whole("\u{0}");
    let (head, tail) = marks.split_once('\u{0}').unwrap();
    clean.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail)).expect("nothing else changes").to_owned()
}

#[track_caller]
fn cleaned(notebook: &str) -> String {
    let (bytes, _) = testing::clean(&FORMAT, "ipynb", notebook.as_bytes()).unwrap();
    let facts = look(&FORMAT, "ipynb", &bytes).facts();
    assert!(facts.iter().all(|fact| fact.starts_with("info ")), "{facts:?}");
    let clean = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok(), "{clean}");
    clean
}

#[test]
fn forms_that_run_go_and_the_others_are_cleaned() {
    for (bundle, expected) in [
        (r#"{"application/javascript": "alert(1)", "text/plain": "x"}"#, r#"{"text/plain": "x"}"#),
        (r#"{"text/plain": "x", "application/javascript": ["alert(1)"]}"#, r#"{"text/plain": "x"}"#),
        (
            r#"{"application/vnd.bokehjs_exec.v0+json": "", "text/plain": "x", "application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "application/javascript": ""}"#,
            r#"{"text/plain": "x"}"#,
        ),
        (r#"{"application/javascript": "alert(1)"}"#, r#"{"text/plain": "[output removed: it runs script]"}"#),
        (r#"{"text/html": "<b onclick=1>a</b>"}"#, r#"{"text/html": "<b>a</b>"}"#),
        (
            r#"{"text/html": ["<table>\n", "<tr onclick=1><td>\"é\"</td></tr></table>"], "text/plain": "x"}"#,
            r#"{"text/html": ["<table>\n", "<tr><td>\"é\"</td></tr></table>"], "text/plain": "x"}"#,
        ),
        (
            r#"{"image/svg+xml": "<svg onload='1'/>"}"#,
            r#"{"image/svg+xml": "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"></svg>"}"#,
        ),
        (r#"{"text/markdown": "[a](javascript:1)"}"#, r#"{"text/markdown": "[a](#)"}"#),
        (r#"{"text/latex": "$\\href{javascript:1}{a}$", "text/plain": "x"}"#, r#"{"text/plain": "x"}"#),
        (r#"{"image/png": "ZGlydHk="}"#, r#"{"image/png": "Y2xlYW4="}"#),
        (r#"{"image/svg+xml": "ZGlydHk="}"#, r#"{"image/svg+xml": "Y2xlYW4="}"#),
        (r#"{"image/svg+xml": "<p>", "text/plain": "x"}"#, r#"{"text/plain": "x"}"#),
        (r#"{"image/png": "iVBORw0KGgo=\n"}"#, r#"{"image/png": "iVBORw0KGgo=\n"}"#),
        (
            r#"{"application/vnd.plotly.v1+json": {"data": [1, 2]}}"#,
            r#"{"application/vnd.plotly.v1+json": {"data": [1, 2]}}"#,
        ),
        (r#"{"application/vnd.x+json": {"a": "<script>1</script>"}, "text/plain": "x"}"#, r#"{"text/plain": "x"}"#),
    ] {
        let whole = |bundle: &str| format!(r#"{{"output_type": "display_data", "metadata": {{}}, "data": {bundle}}}"#);
        assert_eq!(output(&whole(bundle)), whole(expected));
    }
    assert_eq!(
        output(r#"{"output_type": "stream", "name": "stdout", "text": ["a\u001b[0m\n", "\u0053ECRET"]}"#),
        r#"{"output_type": "stream", "name": "stdout", "text": ["a\u001b[0m\n", "[secret]"]}"#
    );
    assert_eq!(
        output(r#"{"output_type": "pyout", "javascript": "1", "html": "<i onclick=1>a</i>"}"#),
        r#"{"output_type": "pyout", "html": "<i>a</i>"}"#
    );
}

#[test]
fn words_are_made_harmless_and_state_goes() {
    assert_eq!(
        cleaned(
            r#"{"cells": [{"cell_type": "markdown", "metadata": {"trusted": true}, "source": ["a\n", "<script>1</script>"], "attachments": {"a.png": {"image/png": "ZGlydHk="}}}, {"cell_type": "raw", "metadata": {}, "source": "<script>"}], "metadata": {"widgets": {"a": "<script>"}, "language_info": {"name": "python"}, "trusted": true}, "nbformat": 4, "nbformat_minor": 5}"#
        ),
        r#"{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["a\n", "&lt;script>1&lt;/script>"], "attachments": {"a.png": {"image/png": "Y2xlYW4="}}}, {"cell_type": "raw", "metadata": {}, "source": "&lt;script>"}], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}"#
    );
}

#[test]
fn what_needs_no_change_stays_byte_for_byte() {
    let notebook = "{\"cells\":[ {\"cell_type\":\"code\",\"source\":[\"print(1)\\u0041\"],\n\"outputs\":[{\"output_type\":\"execute_result\",\"data\":{\"text/html\":[\"<b>1</b>\"],\"text/plain\":[\"1\"]}}]}],\"metadata\":{},\"nbformat\":4}\n";
    assert_eq!(cleaned(notebook), notebook);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    for (notebook, why) in [
        ("{\"cells\":[", "ends in the middle"),
        ("{\"cells\":[],\"cells\":[]}", "twice"),
        ("{\"cells\":[]} x", "follows"),
        ("", "ends in the middle"),
    ] {
        let refused = testing::clean(&FORMAT, "ipynb", notebook.as_bytes()).unwrap_err();
        assert!(refused.0.contains(why), "{notebook}: {refused:?}");
    }
}

proptest::proptest! {
    #[test]
    fn whatever_the_words_it_stays_json(html in "[<>\"'\\\\&a-c\n =/]{0,40}", gone in proptest::bits::u8::ANY) {
        let html = serde_json::to_string(&html).unwrap();
        let forms = ["text/plain", "application/javascript", "text/html", "application/x-javascript", "text/latex", "text/javascript"];
        let forms: Vec<String> = forms.iter().enumerate().filter(|(at, _)| gone >> at & 1 == 1).map(|(_, form)| format!("\"{form}\" : {html}")).collect();
        let notebook = format!("{{\"cells\":[{{\"cell_type\":\"code\",\"outputs\":[{{\"data\":{{ {} }}}}]}}]}}", forms.join(" ,\n"));
        cleaned(&notebook);
    }
}
