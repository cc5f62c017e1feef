//! Markup, which HTML, SVG, XML, Markdown and notebooks share: cut into tokens, judged element by element, its visible and
//! its hidden text told apart. Nothing is expanded, fetched or run, and no tree is built.

pub(super) mod address;
pub(super) mod carried;
pub(super) mod css;
mod declared;
pub(super) mod dtd;
pub(super) mod element;
pub(super) mod entity;
pub(super) mod judge;
pub(super) mod letters;
mod names;
mod permitted;
pub(super) mod pieces;
pub(super) mod purpose;
pub(super) mod rules;
pub(super) mod script;
mod sight;
pub(super) mod token;
pub(super) mod walk;
pub(super) mod wash;
mod writer;
