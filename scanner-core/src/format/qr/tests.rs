use qrcodegen::{DataTooLong, Mask, QrCode, QrCodeEcc, QrSegment, QrSegmentMode, Version};

use super::{grey::Grey, symbol::Symbol, *};
use crate::{format::picture::Size, limits::Limits};

fn wanted() -> Limits {
    Limits::default().with(Resource::CodePixels, 8 << 20)
}

fn plenty() -> Budget {
    Budget::new(wanted().with(Resource::Steps, 1_000_000_000))
}

fn encode(text: &str) -> QrCode {
    QrCode::encode_text(text, QrCodeEcc::Medium).unwrap()
}

fn encoded(segments: &[QrSegment], level: QrCodeEcc, version: u8) -> Result<QrCode, DataTooLong> {
    let version = Version::new(version);
    QrCode::encode_segments_advanced(segments, level, version, Version::new(40), Some(Mask::new(3)), false)
}

fn symbol(code: &QrCode) -> Symbol {
    let size = usize::try_from(code.size()).unwrap();
    Symbol::of(size, |x, y| code.get_module(x as i32, y as i32))
}

fn says(code: &QrCode) -> String {
    match symbol::read(&symbol(code), &mut plenty()).unwrap() {
        symbol::Outcome::Text(text) => String::from_utf8(text).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// A picture: for each pixel, what part of a code, if any, is under its middle.
struct Scene {
    width: u32,
    height: u32,
    shades: Vec<u8>,
}

impl Scene {
    fn white(width: u32, height: u32) -> Self {
        Self { width, height, shades: vec![255; (width * height) as usize] }
    }

    /// Draws a code: `place` tells where in the code, in modules, the middle of a pixel is.
    fn draw(mut self, code: &QrCode, place: impl Fn(f64, f64) -> (f64, f64)) -> Self {
        for y in 0..self.height {
            for x in 0..self.width {
                let (u, v) = place(f64::from(x) + 0.5, f64::from(y) + 0.5);
                let (size, quiet) = (f64::from(code.size()), 2.0);
                let is_inside = (-quiet..size + quiet).contains(&u) && (-quiet..size + quiet).contains(&v);
                if is_inside {
                    let is_dark = code.get_module(u.floor() as i32, v.floor() as i32);
                    self.shades[(y * self.width + x) as usize] = if is_dark { 0 } else { 255 };
                }
            }
        }
        self
    }

    fn mapped(mut self, shade: impl Fn(u32, u32, u8) -> u8) -> Self {
        let width = self.width;
        for (at, pixel) in (0_u32..).zip(&mut self.shades) {
            *pixel = shade(at % width, at / width, *pixel);
        }
        self
    }

    fn found(&self, budget: &mut Budget) -> Result<grid::Found, Exhausted> {
        let mut grey = Grey::of(Size::new(self.width, self.height), budget)?.unwrap();
        for (y, row) in self.shades.chunks(self.width as usize).enumerate() {
            grey.row(y, row.iter().copied());
        }
        let dark = grey.darkness();
        let centres = finder::find(&dark, budget)?;
        grid::read(&dark, &centres, budget)
    }

    #[track_caller]
    fn says(&self) -> Vec<String> {
        let found = self.found(&mut plenty()).unwrap();
        let mut texts: Vec<String> = found.texts.into_iter().map(|text| String::from_utf8(text).unwrap()).collect();
        texts.sort();
        texts
    }
}

/// The code upright, so many pixels a module, with its corner there.
fn upright(x: f64, y: f64, module: f64) -> impl Fn(f64, f64) -> (f64, f64) {
    move |px, py| ((px - x) / module, (py - y) / module)
}

/// The code turned around the middle of a picture.
fn turned(code: &QrCode, middle: f64, module: f64, degrees: f64) -> impl Fn(f64, f64) -> (f64, f64) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let half = f64::from(code.size()) / 2.0;
    move |x, y| {
        let (x, y) = ((x - middle) / module, (y - middle) / module);
        (x * cos + y * sin + half, y * cos - x * sin + half)
    }
}

#[test]
fn every_version_and_level_is_read() {
    for version in 1..=40 {
        for level in [QrCodeEcc::Low, QrCodeEcc::Medium, QrCodeEcc::Quartile, QrCodeEcc::High] {
            let code = encoded(&[QrSegment::make_bytes(b"order 7")], level, version).unwrap();
            assert_eq!(code.version().value(), version);
            assert_eq!(says(&code), "order 7", "version {version}");
        }
    }
}

#[test]
fn every_mask_is_taken_off() {
    for mask in 0..8 {
        let code = QrCode::encode_segments_advanced(
            &QrSegment::make_segments("mask"),
            QrCodeEcc::Low,
            Version::new(1),
            Version::new(40),
            Some(Mask::new(mask)),
            false,
        );
        assert_eq!(says(&code.unwrap()), "mask");
    }
}

#[test]
fn every_kind_of_segment_is_read() {
    for version in [1, 10, 27] {
        for (text, segment) in [
            ("0123456789012", QrSegment::make_numeric("0123456789012")),
            ("HTTP://A.EXAMPLE/7", QrSegment::make_alphanumeric("HTTP://A.EXAMPLE/7")),
            ("zażółć", QrSegment::make_bytes("zażółć".as_bytes())),
            ("é", QrSegment::make_bytes(b"\xe9")),
        ] {
            assert_eq!(says(&encoded(&[segment], QrCodeEcc::Low, version).unwrap()), text);
        }
        let several = [
            QrSegment::make_eci(26),
            QrSegment::make_bytes(b"\xc5"),
            QrSegment::make_bytes(b"\xbc"),
            QrSegment::make_numeric("7"),
        ];
        assert_eq!(says(&encoded(&several, QrCodeEcc::Low, version).unwrap()), "ż7");
        // 点茗: 935F and E4AA in Shift JIS, packed as in ISO/IEC 18004 §7.4.6.
        let bits = |number: u32| (0..13).rev().map(|bit| number >> bit & 1 == 1).collect::<Vec<_>>();
        let kanji = QrSegment::new(QrSegmentMode::Kanji, 2, [bits(0xd9f), bits(0x1aaa)].concat());
        assert_eq!(says(&encoded(&[kanji], QrCodeEcc::Low, version).unwrap()), "点茗");
    }
}

#[test]
fn a_code_is_found_wherever_and_however_it_lies() {
    let code = encode("https://example.org/a");
    for module in [1.0, 2.0, 3.0, 4.6, 11.0, 50.0] {
        let side = (f64::from(code.size()) * module + 60.0) as u32;
        let scene = Scene::white(side, side + 7).draw(&code, upright(20.0, 31.0, module));
        assert_eq!(scene.says(), ["https://example.org/a"], "{module} pixels a module");
    }
    for degrees in (0..360).step_by(9) {
        let scene = Scene::white(300, 300).draw(&code, turned(&code, 150.0, 5.0, f64::from(degrees)));
        assert_eq!(scene.says(), ["https://example.org/a"], "turned by {degrees}");
    }
}

#[test]
fn a_large_code_is_read_turned_and_from_the_side() {
    for length in [60, 300, 900, 2000] {
        let text = "0a".repeat(length / 2);
        let code = QrCode::encode_text(&text, QrCodeEcc::Low).unwrap();
        let side = f64::from(code.size()) * 4.0 + 200.0;
        for degrees in [0.0, 33.0, 100.0] {
            let flat = turned(&code, side / 2.0, 3.5, degrees);
            assert_eq!(Scene::white(side as u32, side as u32).draw(&code, &flat).says(), [&*text], "{degrees}");
            let askew = |x: f64, y: f64| {
                let depth = 1.0 + 0.12 * (x / side - 0.5) + 0.08 * (y / side - 0.5);
                flat((x - side / 2.0) * depth + side / 2.0, (y - side / 2.0) * depth + side / 2.0)
            };
            assert_eq!(Scene::white(side as u32, side as u32).draw(&code, askew).says(), [&*text], "askew, {degrees}");
        }
    }
}

#[test]
fn colours_may_be_turned_over_mirrored_pale_and_unevenly_lit() {
    let code = encode("ignore the above");
    let scene = || Scene::white(200, 200).draw(&code, upright(30.0, 40.0, 4.0));
    let says = ["ignore the above"];
    assert_eq!(scene().mapped(|_, _, shade| 255 - shade).says(), says);
    assert_eq!(scene().mapped(|_, _, shade| 200 + shade / 10).says(), says);
    assert_eq!(scene().mapped(|x, _, shade| (u32::from(shade / 3) + x / 2) as u8).says(), says);
    assert_eq!(scene().mapped(|x, y, shade| shade ^ ((x * 7 + y * 13) % 11 * 4) as u8).says(), says);
    let mirrored = Scene::white(200, 200).draw(&code, |x, y| upright(30.0, 40.0, 4.0)(200.0 - x, y));
    assert_eq!(mirrored.says(), says);
}

#[test]
fn nothing_need_be_around_it() {
    let code = encode("to the very edge");
    let side = code.size() as u32 * 3;
    assert_eq!(Scene::white(side, side).draw(&code, upright(0.0, 0.0, 3.0)).says(), ["to the very edge"]);
}

#[test]
fn several_codes_are_read() {
    let mut scene = Scene::white(640, 480);
    let mut texts = Vec::new();
    for at in 0..12_u32 {
        texts.push(format!("code number {at:02}"));
        let (x, y) = (f64::from(at % 4 * 155) + 20.0, f64::from(at / 4 * 150) + 20.0);
        scene = scene.draw(&encode(texts.last().unwrap()), upright(x, y, 4.0));
    }
    assert_eq!(scene.says(), texts);
}

#[test]
fn damage_is_put_right_and_too_much_of_it_is_told() {
    let code = encode("send the file to a.example");
    let scene = |side: u32| {
        let scene = Scene::white(200, 200).draw(&code, upright(30.0, 40.0, 4.0));
        scene.mapped(
            move |x, y, shade| if (90..90 + side).contains(&x) && (100..100 + side).contains(&y) { 0 } else { shade },
        )
    };
    assert_eq!(scene(16).says(), ["send the file to a.example"]);
    let found = scene(50).found(&mut plenty()).unwrap();
    assert_eq!((found.texts.len(), found.unread), (0, 1));
}

/// Letters want every pixel, codes do not: what codes are looked for in is the same, whoever else looks.
#[test]
fn codes_are_looked_for_in_the_same_pixels_beside_letters() {
    let size = Size::new(2101, 2003);
    let dark = |limits: Limits| {
        let mut budget = Budget::new(limits.with(Resource::CodePixels, 8 << 20));
        let mut grey = Grey::of(size, &mut budget).unwrap().unwrap();
        for y in 0..2003 {
            grey.row(y, (0..2101_usize).map(|x| u8::try_from((x * 7 + y * 13) % 251).unwrap()));
        }
        let plane = grey.plane(Span { start: 0, end: 0 });
        let dark = grey.for_codes().unwrap().darkness();
        ((0..dark.height).map(|y| dark.row(y).to_vec()).collect::<Vec<_>>(), plane, *budget.spent())
    };
    let (alone, nothing, spent) = dark(Limits::default());
    let (beside, plane, spent_beside) = dark(Limits::default().with(Resource::LetterPixels, 8 << 20));
    assert!(alone == beside && alone.len() == 1002 && nothing.is_none());
    assert_eq!(plane.unwrap().shades.len(), 2101 * 2003);
    assert_eq!(spent_beside.get(Resource::CodePixels), spent.get(Resource::CodePixels));
    assert_eq!(spent_beside.get(Resource::LetterPixels), size.area());
}

#[test]
fn noise_and_stripes_are_no_codes() {
    let mut seed = 7_u32;
    let mut random = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    let mut noise = Scene::white(300, 300);
    noise.shades.iter_mut().for_each(|shade| *shade = random());
    let stripes = Scene::white(300, 300).mapped(|x, _, _| if x / 4 % 2 == 0 { 0 } else { 255 });
    let targets = Scene::white(300, 300).mapped(|x, y, _| {
        let ring = (x % 20).abs_diff(10).max((y % 20).abs_diff(10));
        if ring <= 3 || (6..=7).contains(&ring) { 0 } else { 255 }
    });
    for scene in [noise, stripes, targets] {
        let found = scene.found(&mut plenty()).unwrap();
        assert_eq!((found.texts.len(), found.unread), (0, 0));
    }
}

#[test]
fn what_is_spent_is_enough_and_one_less_is_not() {
    let scene = Scene::white(200, 200).draw(&encode("seven"), upright(30.0, 40.0, 4.0));
    let mut budget = plenty();
    scene.found(&mut budget).unwrap();
    let spent = budget.spent().get(Resource::Steps);
    let limited = |steps| Budget::new(wanted().with(Resource::Steps, steps));
    assert!(scene.found(&mut limited(spent)).is_ok());
    assert_eq!(scene.found(&mut limited(spent - 1)).unwrap_err(), Exhausted(Resource::Steps));
}

#[test]
fn pixels_are_paid_for_and_only_where_somebody_wants_it() {
    let size = Size::new(30, 21);
    let at = |limit| Grey::of(size, &mut Budget::new(Limits::default().with(Resource::CodePixels, limit)));
    assert!(at(0).unwrap().is_none());
    assert_eq!(at(629).unwrap_err(), Exhausted(Resource::CodePixels));
    assert!(at(630).unwrap().is_some());
    assert!(Grey::of(Size::new(30, 20), &mut plenty()).unwrap().is_none(), "no code is so small");
}

#[test]
fn a_flood_of_finder_patterns_ends() {
    // Rings everywhere, in the proportions of a finder pattern.
    let flood = Scene::white(1800, 1800).mapped(|x, y, _| {
        let ring = (x % 9).abs_diff(4).max((y % 9).abs_diff(4));
        if ring <= 1 || ring == 3 { 0 } else { 255 }
    });
    let mut budget = Budget::new(wanted());
    assert_eq!(flood.found(&mut budget).unwrap_err(), Exhausted(Resource::Steps));
}

#[test]
fn a_picture_that_is_too_large_is_looked_at_with_less_detail() {
    let code = encode("large");
    let scene = Scene::white(3000, 3000).draw(&code, upright(700.0, 900.0, 20.0));
    assert_eq!(scene.says(), ["large"]);
}
