//! Time of one scan of a PDF in this process, without its texts being read by the rules and with it, beside `lopdf`
//! loading the same bytes; and how cost grows with size on honest and on hostile documents:
//! `cargo bench -p scanner-core --bench pdf`.
//!
//! The name of a shape and a number as arguments run that shape once, so large: for a tool that counts instructions,
//! whose figures a busy machine does not move. Zero is the cost of the start.
//!
//! glibc gives memory of a few megabytes back after each scan, and the next one pays for its pages again: with
//! `MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_MMAP_THRESHOLD_=1000000000` growth is that of the work alone.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench reports to a terminal")]

use std::{fmt::Write as _, hint, io::Write as _, time::Duration};

use flate2::{Compression, write::ZlibEncoder};
use rustix::time::{ClockId, clock_gettime};
use scanner_core::{Input, Limits, Resource, RuleSet, Scanner};

fn main() {
    let rules = RuleSet::built_in(scanner_rules::FILES).expect("built-in rules");
    // Where no text may be read, what is left is the inspector.
    let bare = Scanner::new(rules.clone(), Limits::default().with(Resource::TextBytes, 0));
    if let Some((name, size)) = asked() {
        let shape = SHAPES.iter().find(|(known, _)| *known == name).filter(|_| size > 0);
        return shape.into_iter().for_each(|(_, make)| scan(&bare, &make(size)));
    }
    let ruled = Scanner::new(rules, Limits::default());
    let report = report(100, true);
    let lopdf = fastest(|| drop(hint::black_box(lopdf::Document::load_mem(&report))));
    let scan = fastest(|| scan(&bare, &report));
    let whole = fastest(|| self::scan(&ruled, &report));
    println!("100 pages, {} bytes: lopdf load {lopdf:?}, inspect {scan:?}, with rules {whole:?}", report.len());
    println!("inspect / lopdf load = {:.2}", scan.as_secs_f64() / lopdf.as_secs_f64());
    for (name, make) in SHAPES {
        let times: Vec<f64> =
            [make(1), make(2)].iter().map(|bytes| fastest(|| self::scan(&bare, bytes)).as_secs_f64()).collect();
        if let [once, twice] = *times {
            println!("{name}: {:.2} ms, twice as much {:.2} ms: {:.2}", once * 1e3, twice * 1e3, twice / once);
        }
    }
}

/// The name of a shape and how large it is to be, from the command line.
fn asked() -> Option<(String, usize)> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    Some((arguments.next()?, arguments.next()?.parse().ok()?))
}

fn scan(scanner: &Scanner, bytes: &[u8]) {
    hint::black_box(scanner.scan(Input::file("a.pdf", bytes.to_vec())));
}

fn fastest(mut call: impl FnMut()) -> Duration {
    let times = (0..9).map(|_| {
        let start = now();
        call();
        now().saturating_sub(start)
    });
    times.min().unwrap_or_default()
}

/// Time that this thread had on a core, so that a busy machine does not count. Not `schedstat`: that one ticks.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// A document of that shape and size.
type Shape = (&'static str, fn(usize) -> Vec<u8>);

const SHAPES: &[Shape] = &[
    ("honest report", |n| report(200 * n, true)),
    ("honest report, not packed", |n| report(200 * n, false)),
    ("many small objects", |n| file(&vec![b"<</A 1>>".to_vec(); 20_000 * n])),
    ("open brackets", |n| file(&vec![b"[(".to_vec(); 4_000 * n])),
    ("open strings", |n| b"%PDF-1.4\n1 0 obj(".repeat(4_000 * n)),
    ("streams without end", |n| b"%PDF-1.4\n1 0 obj<</Length 9>>stream\n".repeat(4_000 * n)),
    ("only the word obj", |n| [b"%PDF-1.4\n".to_vec(), b"1 0 obj ".repeat(20_000 * n)].concat()),
    ("digits before obj", |n| [b"%PDF-1.4\n".to_vec(), b"1 ".repeat(100_000 * n), b"obj".to_vec()].concat()),
    ("blanks", |n| [b"%PDF-1.4\n".to_vec(), vec![b' '; 400_000 * n], b"obj".repeat(10_000 * n)].concat()),
    ("white space before each obj", |n| {
        [b"%PDF-1.4\n".to_vec(), vec![b' '; 200_000 * n], b"  obj".repeat(40_000 * n)].concat()
    }),
    ("one form on every page", |n| pages(500 * n, b"/X Do", &b"BT /F 9 Tf (x) Tj ET ".repeat(500 * n))),
    ("saved states", |n| pages(1, &b"q BT /F 9 Tf (x) Tj ET ".repeat(10_000 * n), b"")),
    ("marked content", |n| pages(1, &b"/A BMC BT /F 9 Tf (x) Tj ET ".repeat(10_000 * n), b"")),
    ("text under covers", |n| pages(1, &b"BT /F 9 Tf (x) Tj ET 0 0 9 9 re f ".repeat(5_000 * n), b"")),
    ("tables that point everywhere", |n| {
        let mut bytes = b"%PDF-1.4\n1 0 obj[".to_vec();
        bytes.extend_from_slice(&b"2 0 obj[ ".repeat(10_000 * n));
        let table = bytes.len();
        bytes.extend_from_slice(format!("\nxref\n1 {}\n", 10_000 * n).as_bytes());
        for entry in 0..10_000 * n {
            bytes.extend_from_slice(format!("{:010} 00000 n \n", 17 + 9 * entry).as_bytes());
        }
        bytes.extend_from_slice(format!("trailer<</Root 1 0 R>>\nstartxref\n{}\n%%EOF\n", table + 1).as_bytes());
        bytes
    }),
];

/// A report of that many pages, forty lines each.
fn report(count: usize, packed: bool) -> Vec<u8> {
    let mut objects = vec![b"<</Type/Catalog/Pages 2 0 R>>".to_vec(), Vec::new()];
    objects.push(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec());
    let mut kids = String::new();
    for page in 0..count {
        let _ = write!(kids, "{} 0 R ", objects.len() + 1);
        objects.push(
            format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {} 0 R/Resources<</Font<</F1 3 0 R>>>>>>",
                objects.len() + 2
            )
            .into_bytes(),
        );
        let mut text = String::from("0.2 0.4 0.6 rg 50 790 495 20 re f 0 g BT /F1 10 Tf 14 TL 50 770 Td ");
        for line in 0..40 {
            let _ = write!(
                text,
                "(Line {line} of page {page}: revenue of the quarter was {} thousand) Tj T* ",
                line * page
            );
        }
        text.push_str("ET");
        objects.push(stream(text.as_bytes(), packed));
    }
    if let Some(root) = objects.get_mut(1) {
        *root = format!("<</Type/Pages/Kids[{kids}]/Count {count}>>").into_bytes();
    }
    file(&objects)
}

fn pages(count: usize, content: &[u8], form: &[u8]) -> Vec<u8> {
    let mut objects = vec![b"<</Type/Catalog/Pages 2 0 R>>".to_vec(), Vec::new()];
    objects.push(stream(content, false));
    objects
        .push([format!("<</Subtype/Form/Length {}>>stream\n", form.len()).as_bytes(), form, b"\nendstream"].concat());
    let kids: String = (5..count + 5).map(|page| format!("{page} 0 R ")).collect();
    for _ in 0..count {
        objects.push(
            b"<</Type/Page/Contents 3 0 R/MediaBox[0 0 99 99]/Resources<</XObject<</X 4 0 R>>/Font<</F<<>>>>>>>>"
                .to_vec(),
        );
    }
    if let Some(root) = objects.get_mut(1) {
        *root = format!("<</Type/Pages/Kids[{kids}]/Count {count}>>").into_bytes();
    }
    file(&objects)
}

fn stream(data: &[u8], packed: bool) -> Vec<u8> {
    let (filter, data) = if packed {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(data).expect("memory");
        ("/Filter/FlateDecode", encoder.finish().expect("memory"))
    } else {
        ("", data.to_vec())
    };
    [format!("<<{filter}/Length {}>>stream\n", data.len()).as_bytes(), &data, b"\nendstream"].concat()
}

fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (object, number) in objects.iter().zip(1..) {
        let _ = writeln!(table, "{:010} 00000 n ", out.len());
        out.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let start = out.len();
    out.extend_from_slice(table.as_bytes());
    let size = objects.len() + 1;
    out.extend_from_slice(format!("trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n").as_bytes());
    out
}
