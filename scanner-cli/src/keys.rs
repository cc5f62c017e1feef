//! Key files of the operator. What is wrong with one is told without any of its content.

use std::path::Path;

use scanner_core::{Binding, Limits, PublicKey, SigningKey};

use crate::{inputs, problem::Usage};

/// What signs.
pub(crate) fn signing(path: &Path) -> Result<SigningKey, Usage> {
    SigningKey::from_pem(&text(path)?).map_err(|error| wrong(path, &error))
}

/// What signatures are checked with.
pub(crate) fn public(path: &Path) -> Result<PublicKey, Usage> {
    PublicKey::from_pem(&text(path)?).map_err(|error| wrong(path, &error))
}

/// What guessable content is bound with: the bytes of the file, as they are.
pub(crate) fn binding(path: Option<&Path>) -> Result<Option<Binding>, Usage> {
    let Some(path) = path else { return Ok(None) };
    let bytes = inputs::read_named(path, &Limits::default()).map_err(|problem| Usage(problem.to_string()))?;
    let key = Binding::new(bytes);
    key.map(Some).ok_or_else(|| wrong(path, &"a key to bind with has 32 bytes or more"))
}

fn text(path: &Path) -> Result<String, Usage> {
    inputs::read_text(path).map_err(|problem| Usage(problem.to_string()))
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> Usage {
    Usage(format!("{}: {error}", scanner_core::visible(&path.to_string_lossy())))
}
