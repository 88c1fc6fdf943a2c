//! Attribute arguments: `name`, `name = value`, `name(..)`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::token::Bracket;
use syn::{LitStr, Path, Result, Token, bracketed, parenthesized};

use crate::support::errors::{Errors, suggestion};

/// The name of an argument.
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl PartialEq<&str> for Name {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

/// Reads comma-separated arguments. `read` parses what follows a name that is `known`; names that
/// are unknown or come twice are errors.
pub(crate) fn parse_arguments(
    tokens: TokenStream,
    known: &[&str],
    errors: &mut Errors,
    mut read: impl FnMut(&Name, ParseStream<'_>) -> Result<()>,
) {
    let mut seen: Vec<String> = Vec::new();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let name = parse_name(input)?;
            let text = &name.text;
            if !known.contains(&text.as_str()) {
                let hint = suggestion(text, known);
                return Err(syn::Error::new(name.span, format!("unknown argument `{text}`{hint}")));
            }
            if seen.contains(text) {
                let message = format!("`{text}` is given twice, remove one of them");
                return Err(syn::Error::new(name.span, message));
            }
            read(&name, input)?;
            seen.push(name.text);
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

/// A name; `crate` and `?Send` are some too.
fn parse_name(input: ParseStream<'_>) -> Result<Name> {
    let mark: Option<Token![?]> = input.parse()?;
    let ident = input.call(Ident::parse_any)?;
    let text = format!("{}{ident}", if mark.is_some() { "?" } else { "" });
    Ok(Name { text, span: ident.span() })
}

/// The value of `name = value`.
pub(crate) fn parse_value<T: syn::parse::Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// The name of `name = "name"`.
pub(crate) fn parse_ident(input: ParseStream<'_>) -> Result<Ident> {
    let value: LitStr = parse_value(input)?;
    let message = format!("`{}` is not a name in Rust", value.value());
    value.parse().map_err(|_| syn::Error::new(value.span(), message))
}

/// The path of `crate = path`.
pub(crate) fn parse_crate(input: ParseStream<'_>) -> Result<Path> {
    input.parse::<Token![=]>()?;
    input.call(Path::parse_mod_style)
}

/// The paths of `derive(A, B)`.
pub(crate) fn parse_derives(input: ParseStream<'_>) -> Result<Vec<Path>> {
    let content;
    parenthesized!(content in input);
    Ok(Punctuated::<Path, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

/// The relations of a hook to others, by their names.
pub(crate) const RELATIONS: [&str; 3] = ["before", "after", "requires"];

/// The names of `before = "name"` or `before = ["name", "other"]`.
pub(crate) fn parse_names(input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    input.parse::<Token![=]>()?;
    let message = "name a hook: `\"audit\"`, or several: `[\"audit\", \"log\"]`";
    let explained = |error: syn::Error| syn::Error::new(error.span(), message);
    if !input.peek(Bracket) {
        return Ok(vec![input.parse().map_err(explained)?]);
    }
    let content;
    bracketed!(content in input);
    let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&content);
    Ok(names.map_err(explained)?.into_iter().collect())
}
