//! Values with units, and names of limits.

use std::{fmt, time::Duration};

use scanner_core::Resource;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, Visitor},
};

/// A name of `[limits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit(pub Resource);

/// A number, or one with a unit: `"64MiB"`, `"10s"` where the limit counts seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub u64);

/// A time: `"10s"`, `"250ms"`, `"2m"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Duration);

/// A number and its unit.
fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim_start()))
}

impl Amount {
    fn read(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let factor: u64 = match unit {
            "" | "s" | "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return None,
        };
        number.checked_mul(factor).filter(|number| *number < 1 << 53).map(Self)
    }
}

impl Time {
    fn read(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let milliseconds: u64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            _ => return None,
        };
        // A day is longer than anything here should take.
        number
            .checked_mul(milliseconds)
            .filter(|number| *number <= 86_400_000)
            .map(|ms| Self(Duration::from_millis(ms)))
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Resource::named(&name).map(Self).ok_or_else(|| {
            let names: Vec<&str> = Resource::ALL.iter().map(|resource| resource.name()).collect();
            D::Error::custom(format!(
                "unknown limit \"{}\", expected one of: {}",
                scanner_core::visible(&name),
                names.join(", ")
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Amounts;
        impl Visitor<'_> for Amounts {
            type Value = Amount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number below 2^53, or one with a unit like \"64MiB\"")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Amount, E> {
                u64::try_from(number)
                    .ok()
                    .filter(|number| *number < 1 << 53)
                    .map(Amount)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(number), &self))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Amount, E> {
                Amount::read(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Amounts)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Times;
        impl Visitor<'_> for Times {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time like \"10s\", \"250ms\" or \"2m\", at most a day")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Time, E> {
                Time::read(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Times)
    }
}
