//! `#[tool]`: a function becomes a tool, or the methods of a type become its tools.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::visit_mut::{VisitMut, visit_path_mut};
use syn::{
    Attribute, Error, GenericParam, Generics, ImplItem, ImplItemFn, ItemImpl, Path, ReceiverKind,
    Result, Signature, Token, Visibility,
};

use crate::support::errors::Errors;
use crate::support::helpers::without_helpers;
use crate::tool::expand;
use crate::tool::model::{Tool, camel_case};
use crate::tool::options::Options;
use crate::tool::params::strip;

/// What `#[tool]` is written on.
enum Input {
    Function(Box<Function>),
    Block(Box<ItemImpl>),
}

/// A function; its body is not read.
struct Function {
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
    body: TokenStream,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ahead = input.fork();
        let attrs = ahead.call(Attribute::parse_outer)?;
        if ahead.peek(Token![impl]) || ahead.peek(Token![unsafe]) && ahead.peek2(Token![impl]) {
            return Ok(Self::Block(input.parse()?));
        }
        let start = ahead.span();
        let message = "`#[tool]` goes on a function, or on an impl block whose methods are tools";
        let head = || Ok((ahead.parse()?, ahead.parse()?));
        let (vis, sig) = head().map_err(|_: Error| Error::new(start, message))?;
        let body = ahead.parse()?;
        input.parse::<TokenStream>()?;
        Ok(Self::Function(Box::new(Function { attrs, vis, sig, body })))
    }
}

// Input:  `#[tool] fn weather(..) {}`, `#[tool] impl Library { #[tool] fn find(&self, ..) {} }`
// Output: the item, and a tool of it or a method `tools`
pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Input::Function(function)) => of_function(attr, *function),
        Ok(Input::Block(block)) => of_block(attr, *block),
        Err(error) => {
            let item = without_helpers(item.clone(), &["tool", "arg"]);
            let error = error.into_compile_error();
            quote!(#item #error)
        }
    }
}

fn of_function(attr: TokenStream, mut function: Function) -> TokenStream {
    let mut errors = Errors::default();
    let options = Options::of_function(attr, &mut errors);
    let krate = options.krate.clone();
    let Function { attrs, sig, .. } = &function;
    if let Some(receiver) = sig.receiver() {
        let message = "a method is a tool of its type: write `#[tool]` on the impl block too";
        errors.at(receiver, message);
    }
    let tool = Tool::new(attrs, sig, options, &Generics::default(), &mut errors);
    let type_name = type_name(&sig.ident, &mut errors);
    check_names(sig, &type_name, &mut errors);
    strip(&mut function.sig);
    let Function { attrs, vis, sig, body } = function;
    let item = quote!(#(#attrs)* #vis #sig #body);
    match errors.or(()) {
        Ok(()) => {
            let tool = expand::function(&krate, &vis, &type_name, &tool);
            quote!(#item #tool)
        }
        Err(errors) => quote!(#item #errors),
    }
}

// Input:  `read_file`
// Output: `ReadFile`
/// The name of the tool as a type.
fn type_name(ident: &Ident, errors: &mut Errors) -> Ident {
    let name = camel_case(ident);
    if ident == &name || syn::parse_str::<Ident>(&name).is_err() {
        let message = "the tool is a type with the name of the function in `CamelCase`: name the \
                       function in `snake_case`";
        errors.at(ident, message);
        return ident.clone();
    }
    Ident::new(&name, ident.span())
}

/// Refuses a function whose types have the name of the tool: both would be in one module.
fn check_names(sig: &Signature, type_name: &Ident, errors: &mut Errors) {
    struct Named<'a>(&'a Ident, Option<Ident>);

    impl VisitMut for Named<'_> {
        fn visit_path_mut(&mut self, path: &mut Path) {
            if path.leading_colon.is_none() && path.is_ident(self.0) {
                self.1 = path.get_ident().cloned();
            }
            visit_path_mut(self, path);
        }
    }

    let mut named = Named(type_name, None);
    named.visit_signature_mut(&mut sig.clone());
    if let Some(ident) = named.1 {
        let message = format!(
            "the tool `{}` is a type named `{type_name}` beside the function: name the function or \
             this type otherwise",
            sig.ident
        );
        errors.at(ident, message);
    }
}

fn of_block(attr: TokenStream, mut block: ItemImpl) -> TokenStream {
    let mut errors = Errors::default();
    let krate = Options::of_block(attr, &mut errors).krate;
    if let Some((path, _)) = &block.trait_ {
        errors.at(path, "`#[tool]` goes on an impl block of the type alone, without a trait");
    }
    if let Some(lifetime) =
        block.generics.params.iter().find(|param| matches!(param, GenericParam::Lifetime(_)))
    {
        errors.at(lifetime, "tools outlive every call: their type has no lifetimes");
    }
    let tools = tools(&mut block, &mut errors);
    match errors.or(()) {
        Ok(()) => {
            let tools = expand::methods(&krate, &block, &tools);
            quote!(#block #tools)
        }
        Err(errors) => quote!(#block #errors),
    }
}

/// The tools of a block, from which their attributes are taken.
fn tools(block: &mut ItemImpl, errors: &mut Errors) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    let generics = block.generics.clone();
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(attr) = take_attr(method, errors) else { continue };
        check_receiver(&method.sig, errors);
        let options = Options::of_method(&attr, errors);
        let place = match &options.name {
            Some(name) => name.to_token_stream(),
            None => method.sig.ident.to_token_stream(),
        };
        let tool = Tool::new(&method.attrs, &method.sig, options, &generics, errors);
        strip(&mut method.sig);
        // Of two under conditions, one may be there at a time; the agent refuses both.
        let is_taken =
            |known: &Tool| known.name == tool.name && known.cfgs.is_empty() && tool.cfgs.is_empty();
        if tools.iter().any(is_taken) {
            let message = format!("two tools are named `{}`, rename one of them", tool.name);
            errors.at(place, message);
        }
        tools.push(tool);
    }
    if tools.is_empty() && block.trait_.is_none() {
        let message = "no method here is a tool: write `#[tool]` on those that are";
        errors.at(&block.self_ty, message);
    }
    tools
}

fn take_attr(method: &mut ImplItemFn, errors: &mut Errors) -> Option<Attribute> {
    let is_tool =
        |attr: &Attribute| attr.path().segments.last().is_some_and(|last| last.ident == "tool");
    let (mut ours, others): (Vec<_>, Vec<_>) = method.attrs.drain(..).partition(is_tool);
    method.attrs = others;
    if let Some(second) = ours.get(1) {
        errors.at(second, "`#[tool]` is given twice, remove one of them");
    }
    (!ours.is_empty()).then(|| ours.swap_remove(0))
}

fn check_receiver(sig: &Signature, errors: &mut Errors) {
    let message = "a tool is called on shared state: write `&self`";
    match sig.receiver() {
        Some(receiver) if matches!(receiver.kind, ReceiverKind::Reference(_, _, None)) => {}
        Some(receiver) => errors.at(receiver, message),
        None => errors.at(&sig.ident, format!("{message} as the first parameter")),
    }
}
