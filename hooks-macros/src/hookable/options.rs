//! The arguments of `#[hookable(..)]`.

use proc_macro2::TokenStream;
use syn::Path;

use crate::support::arguments::{parse_arguments, parse_crate, parse_derives};
use crate::support::errors::Errors;

/// What `#[hookable(..)]` says of the block.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an argument of its own")]
pub(crate) struct BlockOptions {
    pub(crate) krate: Option<Path>,
    /// What the args structs derive; `Debug` and `Clone` unless said otherwise.
    pub(crate) derives: Option<Vec<Path>>,
    /// Whether the methods take hooks over JSON.
    pub(crate) is_json: bool,
    /// Whether the args structs are `#[non_exhaustive]`.
    pub(crate) is_non_exhaustive: bool,
    /// Whether no method is hooked by its name.
    pub(crate) is_explicit: bool,
    /// Whether the hooks of an impl of a trait are those of the type.
    pub(crate) is_own: bool,
    /// Whether what is there for these hooks is seen in the module alone.
    pub(crate) is_private: bool,
}

impl BlockOptions {
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let known = ["own", "private", "json", "derive", "explicit", "non_exhaustive", "crate"];
        parse_arguments(attr, &known, errors, |name, input| {
            match name.text.as_str() {
                "crate" => options.krate = Some(parse_crate(input)?),
                "json" => options.is_json = true,
                "own" => options.is_own = true,
                "private" => options.is_private = true,
                "explicit" => options.is_explicit = true,
                "non_exhaustive" => options.is_non_exhaustive = true,
                _ => options.derives = Some(parse_derives(input)?),
            }
            Ok(())
        });
        options
    }
}
