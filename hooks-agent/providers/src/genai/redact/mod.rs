//! Removes keys and quotes of the request from the text of a provider. The rest of the text stays
//! as it is.

mod mask;
mod quote;

pub(super) use mask::{without_keys, without_likely_keys};
pub(super) use quote::without_quotes;
