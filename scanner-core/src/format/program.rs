use crate::format::Format;
pub(crate) const FORMAT: Format = Format { name: "program", labels: &[], inspect: |_, _, _| Ok(()), rules: &[] };
