//! inflate
