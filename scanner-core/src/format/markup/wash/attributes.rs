//! The attributes of an element that stays, and what a page says of itself.

use memchr::memmem;

use super::{Wash, said};
use crate::{
    format::{
        cleaning::{Cleaning, Uncleanable},
        markup::{
            carried, declared,
            element::{Element, acts, local},
            entity,
            permitted::{self, Says},
            token::{Attribute, Tag, Tokens},
            writer::is_left_out,
        },
    },
    limits::Budget,
};

/// Attributes of one element that stay.
const ATTRIBUTES_MOST: usize = 64;

impl Wash<'_> {
    pub(super) fn attributes(
        &mut self,
        element: &str,
        is_svg: bool,
        attributes: &[Attribute],
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let text = self.text;
        let mut kept: Vec<&str> = Vec::new();
        for attribute in attributes {
            let name = text.get(attribute.name.clone()).unwrap_or_default();
            let Some((name, says)) = permitted::attribute(element, is_svg, name, local(name)) else {
                if !name.starts_with(b"xmlns") {
                    cleaning.did("removed an attribute");
                }
                continue;
            };
            // The first of a name counts.
            if kept.contains(&name) || kept.len() >= ATTRIBUTES_MOST {
                continue;
            }
            kept.push(name);
            let bytes = text.get(attribute.value.clone()).unwrap_or_default();
            let plain = entity::decoded(bytes);
            let Some(value) = value(says, &plain, bytes, cleaning, budget)? else {
                cleaning.did("removed an attribute");
                continue;
            };
            self.out.attribute(name, &value, budget)?;
            if says == Says::Link && element == "a" {
                self.out.attribute("rel", b"noopener noreferrer nofollow", budget)?;
            }
        }
        Ok(())
    }

    /// For which media a style is, where it says so in a way that only chooses.
    pub(super) fn media(&self, attributes: &[Attribute]) -> Vec<u8> {
        let media = attributes.iter().find(|attribute| self.bytes(&attribute.name).eq_ignore_ascii_case(b"media"));
        let media = media.map(|media| entity::decoded(self.bytes(&media.value)).into_owned());
        media.filter(|media| declared::is_choice(media)).unwrap_or_default()
    }

    /// Of what a page says of itself only its width on small screens stays; its letters are UTF-8.
    pub(super) fn meta(
        &mut self,
        tag: &Tag,
        tokens: &Tokens<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let element = Element::read(self.text, tag, tokens);
        let value = |name: &[u8]| element.value(name).unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let content = value(b"content");
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'=' | b',' | b'.' | b'-' | b' ');
        if value(b"name") == b"viewport" && element.value(b"http-equiv").is_none() && content.iter().all(is_plain) {
            self.out.raw(b"<meta name=\"viewport\"", budget)?;
            self.out.attribute("content", &content, budget)?;
            self.out.raw(b">", budget)?;
            return Ok(());
        }
        if element.value(b"charset").is_some() || value(b"http-equiv") == b"content-type" {
            return self.say_letters(budget);
        }
        cleaning.did("removed an element");
        Ok(())
    }

    pub(super) fn say_letters(&mut self, budget: &mut Budget) -> Result<(), Uncleanable> {
        if !std::mem::replace(&mut self.has_letters, true) {
            self.out.raw(b"<meta charset=\"utf-8\">", budget)?;
        }
        Ok(())
    }
}

/// What an attribute may say of what it says.
fn value(
    says: Says,
    plain: &[u8],
    written: &[u8],
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Uncleanable> {
    Ok(match says {
        Says::Anything => {
            // As it will stand: a control that is left out may have kept a tag from being one.
            let kept: String = String::from_utf8_lossy(&said(plain, written, cleaning, budget)?)
                .chars()
                .filter(|character| !is_left_out(*character))
                .collect();
            // Programs that read a value once more would find it.
            let is_buried = memmem::find(kept.as_bytes(), b"<").is_some() && acts(kept.as_bytes());
            (!is_buried).then(|| kept.into_bytes())
        }
        Says::Style => {
            Some(declared::declarations(String::from_utf8_lossy(plain).as_bytes())).filter(|style| !style.is_empty())
        }
        Says::Value => declared::is_value(plain).then(|| plain.to_vec()),
        Says::Link => {
            let kept = said(plain, written, cleaning, budget)?;
            carried::link(&kept).map(<[u8]>::to_vec)
        }
        Says::Part => carried::part(plain).map(<[u8]>::to_vec),
        Says::Picture => carried::picture(plain, cleaning, budget)?,
    })
}
