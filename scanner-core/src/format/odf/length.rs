//! Lengths as ODF writes them: `2.5cm`, `1in`, `12pt`.

/// Hundredths of a millimetre.
pub(super) fn read(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(value).ok()?.trim();
    let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_negative = whole.starts_with('-');
    let whole: i64 = if matches!(whole, "" | "-") { 0 } else { whole.parse().ok()? };
    let thousandths: i64 = format!("{part:0<3}").get(..3)?.parse().ok()?;
    let size = whole.checked_abs()?.checked_mul(1000)?.checked_add(thousandths)?;
    // Hundredths of a millimetre in a unit.
    let each = match unit {
        "mm" => 100,
        "cm" => 1000,
        "in" | "inch" => 2540,
        "pt" => 35,
        "pc" => 423,
        "px" => 26,
        _ => return None,
    };
    let size = size.checked_mul(each)?.checked_div(1000)?;
    Some(if is_negative { size.checked_neg()? } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_signs() {
        for (value, want) in [
            ("1cm", Some(1000)),
            ("-2.5cm", Some(-2500)),
            ("0.5in", Some(1270)),
            (".5mm", Some(50)),
            ("12pt", Some(420)),
            ("12", None),
            ("cm", Some(0)),
            ("9999999999999999999cm", None),
            ("50%", None),
        ] {
            assert_eq!(read(value.as_bytes()), want, "{value}");
        }
    }
}
