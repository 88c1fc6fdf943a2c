//! What the attribute says.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Expr, LitStr, Token, Type};

use crate::support::arguments::{parse_arguments, parse_crate, parse_value};
use crate::support::errors::Errors;
use crate::support::runtime::agent;

/// What the attribute says.
pub(super) struct Options {
    pub(super) krate: TokenStream,
    pub(super) name: Option<LitStr>,
    pub(super) priority: Option<Expr>,
    pub(super) tools: Option<Expr>,
    pub(super) inherit: bool,
    pub(super) once: bool,
    pub(super) class: Option<Class>,
}

/// The agents of a hook that the linker collects.
pub(super) struct Class {
    pub(super) span: Span,
    /// Agents of this type, or of type `ReActAgent`.
    pub(super) agent: Option<Type>,
}

pub(super) fn parse_options(attr: TokenStream, errors: &mut Errors) -> Options {
    let mut options = Options {
        krate: agent(),
        name: None,
        priority: None,
        tools: None,
        inherit: false,
        once: false,
        class: None,
    };
    let known = ["name", "priority", "tools", "inherit", "once", "class", "crate"];
    parse_arguments(attr, &known, errors, |argument, input: ParseStream<'_>| {
        match argument.text.as_str() {
            "name" => options.name = Some(parse_value(input)?),
            "priority" => options.priority = Some(parse_value(input)?),
            "tools" => options.tools = Some(parse_value(input)?),
            "inherit" => options.inherit = true,
            "once" => options.once = true,
            "class" => {
                let agent = if input.peek(Token![=]) { Some(parse_value(input)?) } else { None };
                options.class = Some(Class { span: argument.span, agent });
            }
            _ => {
                options.krate = parse_crate(input)?.into_token_stream();
            }
        }
        Ok(())
    });
    options
}
