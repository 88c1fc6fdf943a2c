//! `hook!`: an async closure that captures, boxed where its type is known.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Pat, Result, Token};

/// The input of `hook!`; the body of the closure stays tokens.
struct Hook {
    hook_type: Expr,
    closure: TokenStream,
    arity: usize,
}

// Input:  `Agent::PRE_REPLY, async move |_, args| Ok(())`
// Output: `Agent::PRE_REPLY.bind(async move |_, args| Ok(()), |point, hook, ..| point.boxed(..))`
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let Hook { hook_type, closure, arity } = match syn::parse2(input) {
        Ok(hook) => hook,
        Err(error) => return error.into_compile_error(),
    };
    let name = |name: &&str| Ident::new(name, Span::mixed_site());
    let (point, hook) = (name(&"point"), name(&"hook"));
    let names: Vec<_> = ["agent", "args", "subject"][..arity].iter().map(name).collect();
    quote! {
        (#hook_type).bind(#closure, |#point, #hook, #(#names),*| #point.boxed(#hook(#(#names),*)))
    }
}

impl Parse for Hook {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Token![async]) {
            let message = "name the hook type first: `hook!(Agent::PRE_REPLY, async move |agent, \
                           args| ..)`";
            return Err(input.error(message));
        }
        let hook_type: Expr = input.parse()?;
        input.parse::<Token![,]>()?;
        let closure: TokenStream = input.fork().parse()?;
        let closure = without_last_comma(closure);
        if !input.peek(Token![async]) {
            let message = if input.peek(Token![|]) || input.peek(Token![move]) {
                "expected `async move |agent, args| ..`; a sync closure is registered as it is, \
                 without `hook!`, and one that gives a future is written as an async closure"
            } else {
                "expected an async closure, `async move |agent, args| ..`; a function is \
                 registered as it is, without `hook!`"
            };
            return Err(input.error(message));
        }
        input.parse::<Token![async]>()?;
        input.parse::<Option<Token![move]>>()?;
        let bar: Token![|] = input.parse()?;
        let mut params = Punctuated::<(), Token![,]>::new();
        while !input.peek(Token![|]) {
            Pat::parse_single(input)?;
            if input.parse::<Option<Token![:]>>()?.is_some() {
                input.parse::<syn::Type>()?;
            }
            params.push_value(());
            if !input.peek(Token![|]) {
                params.push_punct(input.parse()?);
            }
        }
        input.parse::<Token![|]>()?;
        input.parse::<TokenStream>()?;
        let arity = params.len();
        if !(2..=3).contains(&arity) {
            let message = "a pre hook takes `|agent, args|`, the others take one more: `output`, `error` or `next`";
            return Err(syn::Error::new(bar.span, message));
        }
        Ok(Self { hook_type, closure, arity })
    }
}

/// The closure without the comma that may stand behind it, as behind any last argument.
fn without_last_comma(closure: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = closure.into_iter().collect();
    if matches!(tokens.last(), Some(TokenTree::Punct(last)) if last.as_char() == ',') {
        tokens.pop();
    }
    tokens.into_iter().collect()
}
