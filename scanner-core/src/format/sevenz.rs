pub(crate) const FORMAT: crate::format::Format = crate::format::Format { name: "sevenz", labels: &["7z"], inspect: |_, _, _| Ok(()), rules: &[] };
#[cfg(test)]
mod tests;
