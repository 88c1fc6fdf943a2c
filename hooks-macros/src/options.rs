//! Attribute arguments: `name`, `name = value`, `name(..)`.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Result, Token};

use crate::errors::{Errors, suggestion};

/// Reads comma-separated arguments. `read` parses what follows a name that is `known`; names that
/// are unknown or come twice are errors.
pub(crate) fn parse_arguments(
    tokens: TokenStream,
    known: &[&str],
    errors: &mut Errors,
    mut read: impl FnMut(&Ident, ParseStream<'_>) -> Result<()>,
) {
    let mut seen: Vec<Ident> = Vec::new();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let name = parse_name(input)?;
            let text = name.to_string();
            if !known.contains(&text.as_str()) {
                let hint = suggestion(&text, known);
                return Err(syn::Error::new(
                    name.span(),
                    format!("unknown argument `{text}`{hint}"),
                ));
            }
            if seen.contains(&name) {
                let message = format!("`{text}` is given twice, remove one of them");
                return Err(syn::Error::new(name.span(), message));
            }
            read(&name, input)?;
            seen.push(name);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.add(error);
    }
}

/// A name; `crate` is one too.
fn parse_name(input: ParseStream<'_>) -> Result<Ident> {
    use syn::ext::IdentExt;
    input.call(Ident::parse_any)
}

/// The value of `name = value`.
pub(crate) fn parse_value<T: syn::parse::Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}
