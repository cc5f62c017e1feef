use crate::format::Format;
pub(crate) const FORMAT: Format = Format { name: "text", labels: &[], inspect: |_, _, _| Ok(()), rules: &[] };
