//! docs/schema against what is really answered.
