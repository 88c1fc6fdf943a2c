//! Reads texts: in one form, with their structure, and what stands in them.

pub(crate) mod address;
pub(crate) mod escapes;
pub(crate) mod fold;
pub(crate) mod needle;
pub(crate) mod structure;
pub(crate) mod text;
