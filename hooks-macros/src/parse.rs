//! Syntax: the impl block with its method bodies unread.
//!
//! Bodies stay tokens: they are not ours, reading them costs compile time, and a mistake in one
//! is the compiler's to report.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Generics, ImplItem, Result, Signature, Token, Type, Visibility, braced};

/// An inherent impl block.
pub(crate) struct Block {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) generics: Generics,
    pub(crate) self_ty: Type,
    pub(crate) items: Vec<Item>,
}

/// What an impl block holds.
pub(crate) enum Item {
    Method(Box<Method>),
    Other(Box<ImplItem>),
}

/// A function with its body as it was written.
pub(crate) struct Method {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Group,
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let start: Token![impl] = input.parse().map_err(|error| {
            syn::Error::new(error.span(), "`#[hookable]` goes on an `impl` block of a type")
        })?;
        let mut generics: Generics =
            if input.peek(Token![<]) { input.parse()? } else { Generics::default() };
        let self_ty: Type = input.parse()?;
        if input.peek(Token![for]) {
            let message = "`#[hookable]` goes on an inherent `impl` block, not on an impl of a \
                           trait: move the methods to hook into `impl Type { .. }`";
            return Err(syn::Error::new(start.span, message));
        }
        generics.where_clause = input.parse()?;
        let content;
        braced!(content in input);
        let mut attrs = attrs;
        attrs.extend(content.call(Attribute::parse_inner)?);
        let mut items = Vec::new();
        while !content.is_empty() {
            items.push(content.parse()?);
        }
        Ok(Self { attrs, generics, self_ty, items })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ahead = input.fork();
        let is_method = ahead.call(Attribute::parse_outer).is_ok()
            && ahead.parse::<Visibility>().is_ok()
            && ahead.parse::<Signature>().is_ok();
        if is_method { input.parse().map(Self::Method) } else { input.parse().map(Self::Other) }
    }
}

impl Parse for Method {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Ok(Self {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: parse_body(input)?,
        })
    }
}

/// The body, as tokens; a macro may have wrapped it in a group without delimiters.
fn parse_body(input: ParseStream<'_>) -> Result<Group> {
    let expected = |span| syn::Error::new(span, "expected the body of the method");
    match input.parse::<TokenTree>()? {
        TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => Ok(body),
        TokenTree::Group(body) if body.delimiter() == Delimiter::None => {
            parse_body.parse2(body.stream())
        }
        other => Err(expected(other.span())),
    }
}

impl Block {
    // Input:  `impl A { #[hook] fn f(&self) {} }`
    // Output: `impl A { fn f(&self) {} }`
    /// The block without our helper attributes: what is left of it when something is wrong.
    pub(crate) fn without_helpers(&self) -> TokenStream {
        let Self { attrs, generics, self_ty, items } = self;
        let (inner, outer) = attrs.iter().partition::<Vec<_>, _>(|attr| is_inner(attr));
        let clause = &generics.where_clause;
        let items = items.iter().map(|item| match item {
            Item::Method(method) => method.without_helpers(),
            Item::Other(item) => item.to_token_stream(),
        });
        quote!(#(#outer)* impl #generics #self_ty #clause { #(#inner)* #(#items)* })
    }
}

impl Method {
    /// The method as it was written, without our helper attributes.
    pub(crate) fn without_helpers(&self) -> TokenStream {
        let Self { attrs, vis, sig, body } = self;
        let attrs = attrs.iter().filter(|attr| !attr.path().is_ident("hook"));
        let mut sig = sig.clone();
        for input in &mut sig.inputs {
            if let syn::FnArg::Typed(param) = input {
                param.attrs.retain(|attr| !attr.path().is_ident("arg"));
            }
        }
        quote!(#(#attrs)* #vis #sig #body)
    }
}

/// Whether an attribute is written `#![..]`.
pub(crate) fn is_inner(attr: &Attribute) -> bool {
    matches!(attr.style, syn::AttrStyle::Inner(_))
}
