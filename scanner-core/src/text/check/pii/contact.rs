//! Mail addresses, phone numbers and public network addresses: information.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    ops::Range,
};

use super::{EMAIL, PHONE, number::Run};
use crate::text::check::{Said, Sink};

/// Longest local part and longest domain (RFC 5321 §4.5.3.1).
const LOCAL_LONGEST: usize = 64;
const DOMAIN_LONGEST: usize = 255;
/// Digits of a phone number with its country code: E.164 allows 15, no country has fewer than 8.
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 8..=15;
/// Characters of such a number with blanks and brackets.
const PHONE_LONGEST: usize = 24;

/// Mail addresses, from each `@` outwards.
pub(super) fn mail(text: &[u8], sink: &mut Sink<'_>) {
    for at in memchr::memchr_iter(b'@', text) {
        let before = text.get(at.saturating_sub(LOCAL_LONGEST)..at).unwrap_or_default();
        let is_local = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
        let local = before.iter().rev().take_while(|byte| is_local(byte)).count();
        let behind = text.get(at.saturating_add(1)..).unwrap_or_default();
        let is_domain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        let length = behind.iter().take(DOMAIN_LONGEST).take_while(|byte| is_domain(byte)).count();
        let domain = behind.get(..length).unwrap_or_default().trim_ascii_end();
        let length =
            domain.len().saturating_sub(domain.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-')).count());
        let domain = domain.get(..length).unwrap_or_default();
        let Some((dot, name)) =
            memchr::memrchr(b'.', domain).and_then(|dot| Some((dot, domain.get(dot.checked_add(1)?..)?)))
        else {
            continue;
        };
        if local == 0 || dot == 0 || name.len() < 2 || !name.iter().all(u8::is_ascii_alphabetic) {
            continue;
        }
        let range = at.saturating_sub(local)..at.saturating_add(1).saturating_add(length);
        // `git@host:path` and `user:password@host` in an address are no mail.
        let is_authority =
            range.start.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|byte| b":/".contains(byte));
        if !is_authority {
            sink.find(&EMAIL, text, range, Said::default());
        }
    }
}

/// Phone numbers with a country code.
pub(super) fn phone(text: &[u8], sink: &mut Sink<'_>) {
    for at in memchr::memchr_iter(b'+', text) {
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'=' | b'/' | b'.' | b')' | b'_');
        if at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(is_part) {
            continue;
        }
        let behind = text.get(at.saturating_add(1)..).unwrap_or_default();
        // A country code does not begin with 0; a sum does not begin with a digit and go on in groups.
        if !behind.first().is_some_and(|byte| matches!(byte, b'1'..=b'9')) {
            continue;
        }
        let mut digits = 0_usize;
        let mut length = 0;
        let mut gap = 0_usize;
        for (place, byte) in behind.iter().take(PHONE_LONGEST).enumerate() {
            match byte {
                b'0'..=b'9' => {
                    digits = digits.saturating_add(1);
                    length = place.saturating_add(1);
                    gap = 0;
                }
                b' ' | b'-' | b'(' | b')' if gap < 2 => gap = gap.saturating_add(1),
                _ => break,
            }
        }
        let goes_on = behind.get(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let is_fraction = behind.get(length) == Some(&b'.')
            && length.checked_add(1).and_then(|next| behind.get(next)).is_some_and(u8::is_ascii_digit);
        if PHONE_DIGITS.contains(&digits) && !goes_on && !is_fraction {
            sink.find(&PHONE, text, at..at.saturating_add(1).saturating_add(length), Said::default());
        }
    }
}

/// A public network address that begins at a run of digits.
pub(super) fn address(run: &Run<'_>) -> Option<Range<usize>> {
    let rest = run.text.get(run.start..)?;
    match run.byte(run.end()) {
        Some(b'.') if run.length <= 3 => {
            let length = rest.iter().take(16).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
            let token = rest.get(..length)?;
            let token = token.strip_suffix(b".").unwrap_or(token);
            let range = run.start..run.start.saturating_add(token.len());
            let address: Ipv4Addr = std::str::from_utf8(token).ok()?.parse().ok()?;
            (is_public(address) && run.is_bounded(&range) && !is_version(run)).then_some(range)
        }
        // Global unicast is 2000::/3 (RFC 4291 §2.4): it begins with 2 or 3.
        Some(byte) if byte == b':' || byte.is_ascii_hexdigit() => {
            if run.length > 4 || !matches!(run.byte(run.start), Some(b'2' | b'3')) {
                return None;
            }
            let length = rest.iter().take(40).take_while(|byte| byte.is_ascii_hexdigit() || **byte == b':').count();
            let token = rest.get(..length)?;
            let range = run.start..run.start.saturating_add(length);
            let address: Ipv6Addr = std::str::from_utf8(token).ok()?.parse().ok()?;
            // 2001:db8::/32 is for documentation (RFC 3849).
            let [first, second, ..] = address.segments();
            ((first, second) != (0x2001, 0xdb8) && run.is_bounded(&range)).then_some(range)
        }
        _ => None,
    }
}

/// Not private, local, special, nor for documentation (RFC 6890).
fn is_public(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || matches!(first, 0 | 240..)
        || (first == 100 && (64..128).contains(&second)))
}

/// Whether the four numbers are a version: `v1.2.3.4`, `version 1.2.3.4`, `==1.2.3.4`.
fn is_version(run: &Run<'_>) -> bool {
    let before = run.text.get(run.start.saturating_sub(12)..run.start).unwrap_or_default().trim_ascii_end();
    let before = before.strip_suffix(b":").unwrap_or(before).to_ascii_lowercase();
    [&b"v"[..], b"version", b"ver", b"release", b"==", b">=", b"<=", b"~="].iter().any(|word| before.ends_with(word))
}
