//! Days, for exceptions that end. The core reads no clock: the front says what day it is.

use std::{fmt, str::FromStr};

const SECONDS_A_DAY: u64 = 86_400;

/// A day of the Gregorian calendar, in UTC.
///
/// ```
/// use scanner_core::Date;
/// let date = Date::from_unix_seconds(1_801_353_600);
/// assert_eq!(date.to_string(), "2027-01-31");
/// assert_eq!("2027-01-31".parse(), Ok(date));
/// assert_eq!(Date::new(2027, 2, 29), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The last day that can be written in four digits. Later ones are taken for it.
    const LAST: Self = Self { year: 9999, month: 12, day: 31 };

    /// The day, if there is one of that year, month and day.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        (year <= Self::LAST.year && (1..=days_of(year, month)).contains(&day)).then_some(Self { year, month, day })
    }

    /// The day in UTC on which that second lies, counted from 1970-01-01.
    pub fn from_unix_seconds(seconds: u64) -> Self {
        let mut left = seconds / SECONDS_A_DAY;
        for year in 1970..=Self::LAST.year {
            for month in 1..=12 {
                let days = days_of(year, month);
                match u8::try_from(left) {
                    Ok(before) if before < days => return Self { year, month, day: before.saturating_add(1) },
                    _ => left = left.saturating_sub(u64::from(days)),
                }
            }
        }
        Self::LAST
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// That is no day written as `2027-01-31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADate;

impl fmt::Display for NotADate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a date like 2027-01-31")
    }
}

impl std::error::Error for NotADate {}

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let mut parts = text.split('-');
        let (Some(year), Some(month), Some(day), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NotADate);
        };
        let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
        if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
            return Err(NotADate);
        }
        let number = |part: &str| part.parse::<u8>().map_err(|_| NotADate);
        Self::new(year.parse().map_err(|_| NotADate)?, number(month)?, number(day)?).ok_or(NotADate)
    }
}

/// Days of a month; none for a month that does not exist.
const fn days_of(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_days() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_798_761_599, "2026-12-31"),
            (1_798_761_600, "2027-01-01"),
            (4_107_542_400, "2100-03-01"),
            (253_402_300_799, "9999-12-31"),
            (253_402_300_800, "9999-12-31"),
            (u64::MAX, "9999-12-31"),
        ] {
            assert_eq!(Date::from_unix_seconds(seconds).to_string(), day);
        }
    }

    #[test]
    fn only_days_that_exist() {
        for text in ["2027-02-29", "2027-1-1", "2027-13-01", "2027-00-01", "2027-01-00", "2027-01-32", "+027-01-01", ""]
        {
            assert_eq!(text.parse::<Date>(), Err(NotADate), "{text}");
        }
        assert!(
            Date::new(2100, 2, 29).is_none()
                && Date::new(2000, 2, 29).is_some()
                && Date::new(10_000, 1, 1).is_none()
                && Date::new(9_999, 12, 31).is_some()
        );
    }
}
