use crate::format::Format;
pub(crate) const FORMAT: Format = Format { name: "png", labels: &[], inspect: |_, _, _| Ok(()), rules: &[] };
