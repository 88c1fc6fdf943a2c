//! The options of `#[tool(..)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Attribute, Error, ExprPath, LitStr, Meta, Result, Token};

use crate::support::arguments::{parse_arguments, parse_crate, parse_value};
use crate::support::errors::Errors;
use crate::support::runtime::agent;

const KNOWN: [&str; 8] =
    ["name", "description", "reads", "destroys", "idempotent", "blocking", "ask", "crate"];

/// What `#[tool(..)]` says of a function or a method.
pub(crate) struct Options {
    pub(crate) krate: TokenStream,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) is_idempotent: bool,
    /// The variant of `Effect`, if one is written.
    pub(crate) effect: Option<Ident>,
    /// Where `blocking` is written.
    pub(crate) blocking: Option<Span>,
    pub(crate) ask: Option<Ask>,
}

/// Which calls of a tool the user is asked about.
pub(crate) enum Ask {
    Always,
    /// The function that decides.
    By(ExprPath),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            krate: agent(),
            name: None,
            description: None,
            is_idempotent: false,
            effect: None,
            blocking: None,
            ask: None,
        }
    }
}

impl Options {
    /// Of a function.
    pub(crate) fn of_function(attr: TokenStream, errors: &mut Errors) -> Self {
        Self::parse(attr, errors, |_| None)
    }

    /// Of an impl block, which has the path of the crate alone.
    pub(crate) fn of_block(attr: TokenStream, errors: &mut Errors) -> Self {
        Self::parse(attr, errors, |argument| {
            (argument != "crate").then_some("belongs to a method, write it in the `#[tool]` there")
        })
    }

    /// Of a method, by its inner attribute.
    pub(crate) fn of_method(attr: &Attribute, errors: &mut Errors) -> Self {
        let tokens = match &attr.meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => list.tokens.clone(),
            Meta::NameValue(_) => {
                errors.at(attr, "expected `#[tool]` or `#[tool(..)]`");
                TokenStream::new()
            }
        };
        Self::parse(tokens, errors, |argument| {
            (argument == "crate").then_some("belongs to the block, write it in the `#[tool]` there")
        })
    }

    fn parse(
        attr: TokenStream,
        errors: &mut Errors,
        misplaced: impl Fn(&str) -> Option<&'static str>,
    ) -> Self {
        let mut options = Self::default();
        parse_arguments(attr, &KNOWN, errors, |argument, input: ParseStream<'_>| {
            if let Some(message) = misplaced(&argument.text) {
                return Err(Error::new(argument.span, format!("`{}` {message}", argument.text)));
            }
            match argument.text.as_str() {
                "name" => options.name = Some(parse_value(input)?),
                "description" => options.description = Some(parse_value(input)?),
                "idempotent" => options.is_idempotent = true,
                "reads" | "destroys" if options.effect.is_some() => {
                    let message = "a tool reads or destroys, not both";
                    return Err(Error::new(argument.span, message));
                }
                "reads" => options.effect = Some(Ident::new("Reads", argument.span)),
                "destroys" => options.effect = Some(Ident::new("Destroys", argument.span)),
                "blocking" => options.blocking = Some(argument.span),
                "ask" if input.peek(Token![=]) => options.ask = Some(parse_ask(input)?),
                "ask" => options.ask = Some(Ask::Always),
                _ => options.krate = parse_crate(input)?.into_token_stream(),
            }
            Ok(())
        });
        options
    }
}

fn parse_ask(input: ParseStream<'_>) -> Result<Ask> {
    let message = "expected the path of a function from `&ToolUse` to `Permission`";
    input.parse::<Token![=]>()?;
    let place = input.span();
    input.parse().map(Ask::By).map_err(|_| Error::new(place, message))
}
