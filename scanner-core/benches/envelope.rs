//! A 2 MB response with a picture, adapted and scanned, beside the floor under it in the same run: is it UTF-8, decode
//! the base64, SHA-256 of the picture: `cargo bench -p scanner-core --bench envelope`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench reports to a terminal, and may fail")]

use std::{
    hint,
    time::{Duration, Instant},
};

use data_encoding::BASE64;
use scanner_core::{Input, Limits, RuleSet, Scanner};
use sha2::{Digest, Sha256};

/// Runs of each; the fastest counts, since a shared machine only makes things slower.
const RUNS: usize = 40;

fn main() {
    let scanner = Scanner::new(RuleSet::built_in(scanner_rules::FILES).unwrap(), Limits::default());
    // A picture that is looked into, row by row, and one of which only the type is known.
    let png = png(600, 830);
    let jpeg: Vec<u8> = [0xff, 0xd8, 0xff, 0xe0].into_iter().chain(Noise(1).take(png.len() - 4)).collect();
    for (name, mime, picture) in [("png", "image/png", png), ("jpeg", "image/jpeg", jpeg)] {
        let base64 = BASE64.encode(&picture);
        let bytes = bytes::Bytes::from(response(mime, &base64).into_bytes());
        let report = scanner.scan(Input::auto(bytes.clone()));
        assert_eq!(report.source.provider, Some("gemini"));
        assert!(report.artifacts.iter().any(|artifact| artifact.kind.mime == mime));

        let floor = fastest(|| {
            let text = std::str::from_utf8(&bytes).unwrap();
            let decoded = BASE64.decode(base64.as_bytes()).unwrap();
            hint::black_box((text, Sha256::digest(&decoded)));
        });
        let envelope = fastest(|| {
            hint::black_box(scanner.scan(Input::auto(bytes.clone())));
        });
        let alone = fastest(|| {
            hint::black_box(scanner.scan(Input::file("a", picture.clone())));
        });
        let ratio = |time: Duration| time.as_secs_f64() / floor.as_secs_f64();
        println!("{name}: {} bytes of response, {} of picture", bytes.len(), picture.len());
        println!("  floor (UTF-8, base64, SHA-256)   {floor:?}");
        println!("  the picture scanned as a file    {alone:?} = {:.2} of the floor", ratio(alone));
        println!("  the response adapted and scanned {envelope:?} = {:.2} of the floor", ratio(envelope));
    }
}

fn fastest(mut work: impl FnMut()) -> Duration {
    (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn response(mime: &str, base64: &str) -> String {
    let line = "region  count  mean\\nNorth   12.0   1843.2\\nSouth   12.0   1611.9\\n";
    let part = |part: &str| format!("{{{part}}}");
    let parts = [
        part(r#""executableCode":{"language":"PYTHON","code":"import matplotlib.pyplot as plt\nplt.plot([1,2,3])\n"}"#),
        part(&format!(r#""codeExecutionResult":{{"outcome":"OUTCOME_OK","output":"{}"}}"#, line.repeat(20))),
        part(&format!(r#""inlineData":{{"mimeType":"{mime}","data":"{base64}"}}"#)),
        part(r#""text":"The chart shows the mean by region.""#),
    ]
    .join(",");
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":12,"candidatesTokenCount":80,"totalTokenCount":92}},"modelVersion":"gemini-2.5-flash","responseId":"abc123"}}"#
    )
}

/// Bytes that do not pack (xorshift64).
struct Noise(u64);

impl Iterator for Noise {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.to_le_bytes().first().copied()
    }
}

/// A picture of noise: it packs to about its own size.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut noise = Noise(0x2545_f491_4f6c_dd1d);
    let row =
        |_| std::iter::once(0).chain(noise.by_ref().take(usize::try_from(width * 3).unwrap())).collect::<Vec<u8>>();
    let rows = (0..height).flat_map(row).collect::<Vec<u8>>();
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &rows).unwrap();
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", packed.finish().unwrap()), (b"IEND", Vec::new())] {
        png.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(&data);
        png.extend(kind);
        png.extend(data);
        png.extend(crc.sum().to_be_bytes());
    }
    png
}
