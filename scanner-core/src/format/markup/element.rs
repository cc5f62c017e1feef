//! A start tag as it is judged: names in lower case, references undone.

use std::{borrow::Cow, ops::Range};

use super::{
    address::Address,
    entity,
    token::{Dialect, Tag, Token, Tokens},
};

/// One attribute.
#[derive(Clone, Debug)]
pub(in crate::format) struct Property<'t> {
    /// In lower case; a link of any prefix is `href`.
    pub(in crate::format) name: Vec<u8>,
    pub(in crate::format) value: Cow<'t, [u8]>,
    pub(in crate::format) is_quoted: bool,
}

/// One start tag.
#[derive(Clone, Debug)]
pub(in crate::format) struct Element<'t> {
    /// In lower case, without its prefix.
    pub(in crate::format) name: Vec<u8>,
    pub(in crate::format) properties: Vec<Property<'t>>,
    pub(in crate::format) whole: Range<usize>,
    /// How many attributes it has, read or not.
    pub(in crate::format) attributes: usize,
}

impl<'t> Element<'t> {
    pub(in crate::format) fn read(text: &'t [u8], tag: &Tag, tokens: &Tokens<'_>) -> Self {
        let bytes = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        let properties = tokens.attributes().iter().map(|attribute| Property {
            name: attribute_name(bytes(&attribute.name)),
            value: entity::decoded(bytes(&attribute.value)),
            is_quoted: attribute.is_quoted,
        });
        Self {
            name: local(bytes(&tag.name)).to_ascii_lowercase(),
            properties: properties.collect(),
            whole: tag.whole.clone(),
            attributes: tag.attributes,
        }
    }

    /// The value of the first attribute of that name, which is the one that counts.
    pub(in crate::format) fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.properties.iter().find(|property| property.name == name).map(|property| &*property.value)
    }

    pub(in crate::format) fn is(&self, names: &[&[u8]]) -> bool {
        names.contains(&&*self.name)
    }

    /// Whether it runs something whatever stands around it.
    fn acts(&self) -> bool {
        self.name == b"script"
            || self.properties.iter().any(|property| {
                property.is_handler()
                    || property.name == b"srcdoc"
                    || (property.is_address() && Address::of(&property.value).runs() && self.name != b"img")
            })
    }
}

impl Property<'_> {
    /// An event handler that does something. A few words begin like one.
    pub(in crate::format) fn is_handler(&self) -> bool {
        is_handler(&self.name) && !self.value.trim_ascii().is_empty()
    }

    /// Whether a browser may follow its value.
    pub(in crate::format) fn is_address(&self) -> bool {
        const NAMES: [&[u8]; 17] = [
            b"href", b"src", b"action", b"formaction", b"data", b"to", b"from", b"by", b"values", b"poster", b"background",
            b"code", b"codebase", b"ping", b"dynsrc", b"lowsrc", b"folder",
        ];
        NAMES.contains(&&*self.name)
    }
}

/// Whether an attribute of that name, in lower case, is an event handler.
pub(in crate::format) fn is_handler(name: &[u8]) -> bool {
    let Some(event) = name.strip_prefix(b"on") else { return false };
    // Zero bytes inside are dropped by some programs.
    event.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == 0)
        && event.len() > 2
        && !matches!(event, b"line" | b"going" | b"tology")
}

/// A name without its prefix.
pub(in crate::format) fn local(name: &[u8]) -> &[u8] {
    let colon = memchr::memrchr(b':', name).and_then(|at| name.get(at.saturating_add(1)..));
    colon.filter(|local| !local.is_empty()).unwrap_or(name)
}

fn attribute_name(name: &[u8]) -> Vec<u8> {
    let lower = name.to_ascii_lowercase();
    if local(&lower) == b"href" && !lower.starts_with(b"xmlns") { b"href".to_vec() } else { lower }
}

/// Whether a text, read as HTML, holds something that runs, be it in an attribute that is read once more. Cheap where
/// there is no `<`.
pub(in crate::format) fn acts(text: &[u8]) -> bool {
    any_element(text, |element| {
        element.acts() || element.properties.iter().any(|property| any_element(&property.value, |inner| inner.acts()))
    })
}

fn any_element(text: &[u8], test: impl Fn(&Element<'_>) -> bool) -> bool {
    if memchr::memchr(b'<', text).is_none() {
        return false;
    }
    let mut tokens = Tokens::of(text, Dialect::Html);
    while let Some(token) = tokens.next() {
        if let Token::Open(tag) = token
            && test(&Element::read(text, &tag, &tokens))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_told_from_what_does_not() {
        for text in [
            "<script>1</script>",
            "a<img src=x onerror=alert(1)>",
            "<a href='java&#x73;cript:1'>",
            "<iframe srcdoc='x'>",
            "<svg/onload=1>",
            "<x:script xmlns:x='y'/>",
            "<img onerr\0or=1>",
        ] {
            assert!(acts(text.as_bytes()), "{text}");
        }
        for text in ["a < b", "<b>x</b>", "&lt;script>", "<img src=data:image/svg+xml,x>", "<p once=1 only=2>"] {
            assert!(!acts(text.as_bytes()), "{text}");
        }
    }
}
