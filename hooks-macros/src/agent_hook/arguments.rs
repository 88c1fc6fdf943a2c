//! The arguments of the attribute.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Expr, LitStr, Token, Type};

use crate::support::arguments::{parse_arguments, parse_crate, parse_names, parse_value};
use crate::support::errors::Errors;
use crate::support::runtime::agent;

/// What each argument is, in the order in which a message lists them. Most have the name of the method
/// of `AgentHook` that they fill.
const ARGUMENTS: [(&str, Argument); 27] = [
    ("name", Argument::Value),
    ("priority", Argument::Value),
    ("before", Argument::Names),
    ("after", Argument::Names),
    ("requires", Argument::Names),
    ("role", Argument::Value),
    ("inherit", Argument::Flag),
    ("always", Argument::Flag),
    ("once", Argument::Flag),
    ("parallel", Argument::Flag),
    ("needs_login", Argument::Flag),
    ("tools", Argument::Function),
    ("tool_names", Argument::Function),
    ("tool_labels", Argument::Function),
    ("counter", Argument::Function),
    ("watcher", Argument::Function),
    ("foreign_guard", Argument::Function),
    ("ends_with_process", Argument::Function),
    ("not_in_shadow", Argument::Function),
    ("plan_check", Argument::Function),
    ("shadow_parts", Argument::Function),
    ("events", Argument::Value),
    ("answers", Argument::Value),
    ("around", Argument::Value),
    ("answers_around", Argument::Value),
    ("class", Argument::Class),
    ("crate", Argument::Crate),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    /// `inherit`, or `inherit = false`: on, off, or by an expression in which `self` is the hook.
    Flag,
    /// `priority = 10`: an expression, in which `self` is the hook.
    Value,
    /// `tools = Self::tools_of`: a function of the hook.
    Function,
    /// `before = "pii"`, or `before = ["pii", "secrets"]`: names of other hooks.
    Names,
    Class,
    Crate,
}

/// The arguments of the attribute.
pub(super) struct Options {
    pub(super) krate: TokenStream,
    pub(super) class: Option<Class>,
    values: Vec<(&'static str, Expr)>,
    functions: Vec<(&'static str, Expr)>,
    flags: Vec<(&'static str, Option<Expr>)>,
    names: Vec<(&'static str, Vec<LitStr>)>,
}

/// The agents of a hook that the linker collects.
pub(super) struct Class {
    pub(super) span: Span,
    /// Agents of this type, or of type `ReActAgent`.
    pub(super) agent: Option<Type>,
}

impl Options {
    /// Returns the expression of an argument.
    pub(super) fn value(&self, name: &str) -> Option<&Expr> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the arguments that are functions of the hook.
    pub(super) fn functions(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        self.functions.iter().map(|(name, function)| (*name, function))
    }

    /// Returns the relations to other hooks, with their names.
    pub(super) fn relations(&self) -> impl Iterator<Item = (&'static str, &[LitStr])> {
        self.names.iter().map(|(relation, names)| (*relation, &**names))
    }

    /// Returns the arguments that are on or off.
    pub(super) fn flags(&self) -> impl Iterator<Item = (&'static str, Option<&Expr>)> {
        self.flags.iter().map(|(name, value)| (*name, value.as_ref()))
    }
}

pub(super) fn parse_options(attr: TokenStream, errors: &mut Errors) -> Options {
    let mut options = Options {
        krate: agent(),
        class: None,
        values: Vec::new(),
        functions: Vec::new(),
        flags: Vec::new(),
        names: Vec::new(),
    };
    let known = ARGUMENTS.map(|(name, _)| name);
    parse_arguments(attr, &known, errors, |argument, input: ParseStream<'_>| {
        let found = ARGUMENTS.iter().find(|(name, _)| *name == argument.text);
        let Some(&(name, kind)) = found else { return Ok(()) };
        match kind {
            Argument::Flag => {
                let value = if input.peek(Token![=]) { Some(parse_value(input)?) } else { None };
                options.flags.push((name, value));
            }
            Argument::Value => options.values.push((name, parse_value(input)?)),
            Argument::Function => options.functions.push((name, parse_value(input)?)),
            Argument::Names => options.names.push((name, parse_names(input)?)),
            Argument::Class => {
                let agent = if input.peek(Token![=]) { Some(parse_value(input)?) } else { None };
                options.class = Some(Class { span: argument.span, agent });
            }
            Argument::Crate => options.krate = parse_crate(input)?.into_token_stream(),
        }
        Ok(())
    });
    options
}
