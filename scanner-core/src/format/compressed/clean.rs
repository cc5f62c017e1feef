//! The safe version of one packed file: what is in it washed, and packed again in the same way.

use bytes::Bytes;

use super::{codec_of, header};
use crate::{
    bundle::{ArtifactId, Codec, Source},
    finding::Findings,
    format::{
        Out, Subject,
        cleaning::{Cleaning, Part, Uncleanable},
        pack,
    },
    inflate,
    limits::Budget,
};

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let codec = codec_of(subject.kind.label);
    let name = if codec == Codec::Gzip { name(subject, cleaning, budget)? } else { None };
    let unpacked = inflate::unpack(&Source { packed: subject.bytes.clone(), codec }, budget);
    if let Some(stop) = unpacked.stop {
        return Err(stop.into());
    }
    let used = usize::try_from(unpacked.used).unwrap_or(usize::MAX).min(subject.bytes.len());
    if used < subject.bytes.len() {
        cleaning.did("removed data behind the end");
    }
    let (inner, is_changed) = match cleaning.part(&unpacked.bytes, name.as_deref(), budget)? {
        Part::Keep => (unpacked.bytes, false),
        Part::Changed(changed) => (changed, true),
        Part::Gone(why) => return Err(Uncleanable(why)),
    };
    match codec {
        Codec::Gzip => Ok(pack::gzip(&inner, budget)?.into()),
        Codec::Zlib => Ok(pack::zlib(&inner, budget)?.into()),
        Codec::Bzip2 => Ok(pack::bzip2(&inner, budget)?.into()),
        _ if is_changed => {
            Err(format!("what is in it has a safe version, but nothing here packs {} files", subject.kind.label).into())
        }
        _ if matches!(subject.bytes.first_chunk(), Some([0x50..=0x5f, 0x2a, 0x4d, 0x18])) => {
            // A frame of Zstandard or LZ4 that is skipped (RFC 8878 §3.1.2).
            Err("it begins with data that nobody unpacks".into())
        }
        _ => Ok(subject.bytes.slice(..used)),
    }
}

/// The name that the file had. It is not written again.
fn name(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Option<String>, Uncleanable> {
    let (mut findings, mut gaps) = (Findings::keeping(0), Vec::new());
    let mut out = Out::new(ArtifactId(0), subject, &mut findings, &mut gaps);
    let name = header(subject.bytes, &mut out, budget)?;
    if !out.texts.is_empty() {
        cleaning.did("removed a comment");
    }
    Ok(name)
}
