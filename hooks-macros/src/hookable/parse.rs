//! Syntax: the impl block or trait with its method bodies unread.
//!
//! Bodies stay tokens: they are not ours, reading them costs compile time, and a mistake in one
//! is the compiler's to report.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Generics, ImplItem, Path, Result, Signature, Token, TraitItem, Type,
    TypeParamBound, Visibility, braced,
};

use crate::support::errors::Errors;
use crate::support::types::{sized, ungrouped};

/// What `#[hookable]` is written on.
pub(crate) enum Input {
    Block(Box<Block>),
    Trait(Box<Trait>),
}

/// An impl block.
pub(crate) struct Block {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) generics: Generics,
    /// The trait that it implements.
    pub(crate) base: Option<Path>,
    pub(crate) self_ty: Type,
    pub(crate) items: Vec<Item>,
    /// What is wrong with the items that are left out.
    pub(crate) errors: Errors,
}

/// A trait.
pub(crate) struct Trait {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) token: Token![trait],
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) supertraits: Punctuated<TypeParamBound, Token![+]>,
    pub(crate) items: Vec<Item>,
    /// What is wrong with the items that are left out.
    pub(crate) errors: Errors,
}

/// What an impl block or a trait holds.
pub(crate) enum Item {
    Method(Box<Method>),
    /// A type or a constant of a trait, with the token that says which, if it is not `Self: Sized`.
    Associated(TokenStream, TokenStream),
    /// A type or a constant of an impl of a trait.
    Given(Box<Given>),
    Other(TokenStream),
}

/// What an impl gives its trait.
pub(crate) struct Given {
    pub(crate) item: TokenStream,
    pub(crate) name: Ident,
    pub(crate) is_constant: bool,
    /// The type, if it has no parameters.
    pub(crate) ty: Option<Type>,
}

/// A function with its body as it was written; a trait's may have none.
#[derive(Clone)]
pub(crate) struct Method {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Option<Group>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        if input.peek(Token![impl]) || input.peek(Token![unsafe]) && input.peek2(Token![impl]) {
            return Ok(Self::Block(Block::parse(attrs, input)?.into()));
        }
        let start = input.span();
        let vis: Visibility = input.parse()?;
        if input.peek(Token![trait]) {
            return Ok(Self::Trait(Trait::parse(attrs, vis, input)?.into()));
        }
        let message = "`#[hookable]` goes on an `impl` block of a type, or on a trait";
        Err(Error::new(start, message))
    }
}

impl Block {
    fn parse(mut attrs: Vec<Attribute>, input: ParseStream<'_>) -> Result<Self> {
        let unsafety = input.parse()?;
        input.parse::<Token![impl]>()?;
        let mut generics: Generics =
            if input.peek(Token![<]) { input.parse()? } else { Generics::default() };
        let mut self_ty: Type = input.parse()?;
        let mut base = None;
        if input.parse::<Option<Token![for]>>()?.is_some() {
            let message = "expected the path of a hookable trait";
            match ungrouped(&self_ty) {
                Type::Path(path) if path.qself.is_none() => base = Some(path.path.clone()),
                other => return Err(Error::new_spanned(other, message)),
            }
            self_ty = input.parse()?;
        }
        generics.where_clause = input.parse()?;
        let content;
        braced!(content in input);
        attrs.extend(content.call(Attribute::parse_inner)?);
        let (items, errors) = parse_items(&content, |input| {
            let item: ImplItem = input.parse()?;
            let tokens = item.to_token_stream();
            Ok(match item {
                ImplItem::Type(item) if base.is_some() => {
                    let ty = item.generics.params.is_empty().then_some(item.ty);
                    Item::Given(Box::new(Given {
                        item: tokens,
                        name: item.ident,
                        is_constant: false,
                        ty,
                    }))
                }
                ImplItem::Const(item) if base.is_some() => Item::Given(Box::new(Given {
                    item: tokens,
                    name: item.ident,
                    is_constant: true,
                    ty: None,
                })),
                _ => Item::Other(tokens),
            })
        });
        Ok(Self { attrs, unsafety, generics, base, self_ty, items, errors })
    }

    /// What it gives its trait besides methods.
    pub(crate) fn given(&self) -> impl Iterator<Item = &Given> {
        self.items.iter().filter_map(|item| match item {
            Item::Given(given) => Some(&**given),
            _ => None,
        })
    }

    // Input:  `impl A { #[hook] fn f(&self) {} }`
    // Output: `impl A { fn f(&self) {} }`
    fn without_helpers(&self) -> TokenStream {
        let Self { attrs, unsafety, generics, base, self_ty, items, .. } = self;
        let (inner, outer) = attrs.iter().partition::<Vec<_>, _>(|attr| is_inner(attr));
        let clause = &generics.where_clause;
        let base = base.as_ref().map(|base| quote!(#base for));
        let items = items.iter().map(Item::without_helpers);
        quote!(#(#outer)* #unsafety impl #generics #base #self_ty #clause { #(#inner)* #(#items)* })
    }
}

impl Trait {
    fn parse(mut attrs: Vec<Attribute>, vis: Visibility, input: ParseStream<'_>) -> Result<Self> {
        let token = input.parse()?;
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let mut supertraits = Punctuated::new();
        if input.parse::<Option<Token![:]>>()?.is_some() {
            while !input.peek(Token![where]) && !input.peek(syn::token::Brace) {
                supertraits.push_value(input.parse()?);
                match input.parse::<Option<Token![+]>>()? {
                    Some(plus) => supertraits.push_punct(plus),
                    None => break,
                }
            }
        }
        generics.where_clause = input.parse()?;
        let content;
        braced!(content in input);
        attrs.extend(content.call(Attribute::parse_inner)?);
        let (items, errors) = parse_items(&content, |input| {
            let item: TraitItem = input.parse()?;
            let tokens = item.to_token_stream();
            Ok(match item {
                TraitItem::Type(item) if sized(item.generics.where_clause.as_ref()).is_none() => {
                    Item::Associated(tokens, item.type_token.to_token_stream())
                }
                TraitItem::Const(item) => {
                    Item::Associated(tokens, item.const_token.to_token_stream())
                }
                _ => Item::Other(tokens),
            })
        });
        Ok(Self { attrs, vis, token, ident, generics, supertraits, items, errors })
    }

    fn without_helpers(&self) -> TokenStream {
        let Self { attrs, vis, token, ident, generics, supertraits, items, .. } = self;
        let (inner, outer) = attrs.iter().partition::<Vec<_>, _>(|attr| is_inner(attr));
        let clause = &generics.where_clause;
        let items = items.iter().map(Item::without_helpers);
        quote! {
            #(#outer)* #vis #token #ident #generics : #supertraits #clause { #(#inner)* #(#items)* }
        }
    }
}

impl Input {
    /// What is wrong with the items that are left out.
    pub(crate) fn take_errors(&mut self) -> Errors {
        match self {
            Self::Block(block) => std::mem::take(&mut block.errors),
            Self::Trait(item) => std::mem::take(&mut item.errors),
        }
    }

    /// The item without our helper attributes: what is left of it when something is wrong.
    pub(crate) fn without_helpers(&self) -> TokenStream {
        match self {
            Self::Block(block) => block.without_helpers(),
            Self::Trait(item) => item.without_helpers(),
        }
    }
}

/// Methods as we know them, everything else as the tokens that it is. An item that somebody is still writing
/// is an error, and left out.
fn parse_items(
    content: ParseStream<'_>,
    other: impl Fn(ParseStream<'_>) -> Result<Item>,
) -> (Vec<Item>, Errors) {
    let (mut items, mut errors) = (Vec::new(), Errors::default());
    while !content.is_empty() {
        // Read once: what is no method is read again, as what it is.
        let ahead = content.fork();
        let item = match parse_head(&ahead) {
            Ok((attrs, vis, sig)) => parse_body(&ahead).map(|body| {
                content.advance_to(&ahead);
                Item::Method(Box::new(Method { attrs, vis, sig, body }))
            }),
            Err(_) => {
                let ahead = content.fork();
                let item = other(&ahead);
                if item.is_ok() {
                    content.advance_to(&ahead);
                }
                item
            }
        };
        match item {
            Ok(item) => items.push(item),
            Err(error) => {
                errors.add(error);
                skip_item(content);
            }
        }
    }
    (items, errors)
}

/// Goes on behind the end of an item, or where the next one starts.
fn skip_item(content: ParseStream<'_>) {
    let mut is_in_head = false;
    while !content.is_empty() {
        let is_attr = content.peek(Token![#]);
        if is_in_head && (is_attr || content.peek(Token![pub]) || content.peek(Token![fn])) {
            return;
        }
        // Attributes and qualifiers belong to what follows.
        is_in_head |= content.peek(Token![fn]) || !is_start(content);
        match content.parse::<TokenTree>() {
            Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => return,
            Ok(TokenTree::Punct(end)) if end.as_char() == ';' => return,
            _ => {}
        }
    }
}

/// Whether a token may stand before the name of an item.
fn is_start(content: ParseStream<'_>) -> bool {
    content.peek(Token![#])
        || content.peek(syn::token::Bracket)
        || content.peek(syn::token::Paren)
        || content.peek(Token![pub])
        || content.peek(Token![async])
        || content.peek(Token![const])
        || content.peek(Token![unsafe])
}

fn parse_head(input: ParseStream<'_>) -> Result<(Vec<Attribute>, Visibility, Signature)> {
    Ok((input.call(Attribute::parse_outer)?, input.parse()?, input.parse()?))
}

/// The body, as tokens; a macro may have wrapped it in a group without delimiters.
fn parse_body(input: ParseStream<'_>) -> Result<Option<Group>> {
    match input.parse::<TokenTree>()? {
        TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => Ok(Some(body)),
        TokenTree::Group(body) if body.delimiter() == Delimiter::None => {
            parse_body.parse2(body.stream())
        }
        TokenTree::Punct(end) if end.as_char() == ';' => Ok(None),
        other => Err(Error::new(other.span(), "expected the body of the method")),
    }
}

impl Item {
    fn without_helpers(&self) -> TokenStream {
        match self {
            Self::Method(method) => method.without_helpers(),
            Self::Associated(item, _) | Self::Other(item) => item.clone(),
            Self::Given(given) => given.item.clone(),
        }
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
        let end = body.is_none().then(|| quote!(;));
        quote!(#(#attrs)* #vis #sig #body #end)
    }
}

/// Whether an attribute is written `#![..]`.
pub(crate) fn is_inner(attr: &Attribute) -> bool {
    matches!(attr.style, syn::AttrStyle::Inner(_))
}
