//! `hook!`: a closure whose types are known from its hook type; an async one is boxed there.

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
    is_async: bool,
}

// Input:  `Agent::PRE_REPLY, async move |_, args| Ok(())`
// Output: `Agent::PRE_REPLY.bind(async move |_, args| Ok(()), |point, hook, ..| point.boxed(..))`
// Input:  `Agent::PRE_REPLY, |_, args| args.msg.push('!')`
// Output: `Agent::PRE_REPLY.sync(|_, args| args.msg.push('!'))`
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let Hook { hook_type, closure, arity, is_async } = match syn::parse2(input) {
        Ok(hook) => hook,
        Err(error) => return error.into_compile_error(),
    };
    if !is_async {
        return quote!((#hook_type).sync(#closure));
    }
    let name = |name: &&str| Ident::new(name, Span::mixed_site());
    let (point, hook) = (name(&"point"), name(&"hook"));
    let names: Vec<_> = ["agent", "args", "subject"][..arity].iter().map(name).collect();
    quote! {
        (#hook_type).bind(#closure, |#point, #hook, #(#names),*| #point.boxed(#hook(#(#names),*)))
    }
}

impl Parse for Hook {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Token![async]) || input.peek(Token![|]) || input.peek(Token![move]) {
            let message = "name the hook type first: `hook!(Agent::PRE_REPLY, |agent, args| ..)`";
            return Err(input.error(message));
        }
        let hook_type: Expr = input.parse()?;
        input.parse::<Token![,]>()?;
        let closure: TokenStream = input.fork().parse()?;
        let closure = without_last_comma(closure);
        let is_async = input.parse::<Option<Token![async]>>()?.is_some();
        input.parse::<Option<Token![move]>>()?;
        if !input.peek(Token![|]) && !input.peek(Token![||]) {
            let message = "expected a closure, `|agent, args| ..` or `async move |agent, args| ..`; a \
                           function is registered as it is, without `hook!`";
            return Err(input.error(message));
        }
        let bar = input.span();
        let arity =
            if input.parse::<Option<Token![||]>>()?.is_some() { 0 } else { parse_params(input)? };
        if !(2..=3).contains(&arity) {
            let message = "a pre hook takes `|agent, args|`, a settled hook `|agent, outcome|`, the others \
                           take one more: `output`, `error` or `next`";
            return Err(syn::Error::new(bar, message));
        }
        if !is_async && input.peek(Token![async]) {
            let message = "a closure that gives a future is written `async move |agent, args| ..`";
            return Err(input.error(message));
        }
        input.parse::<TokenStream>()?;
        Ok(Self { hook_type, closure, arity, is_async })
    }
}

// Input:  `|agent, args: &mut Args|`
// Output: 2
fn parse_params(input: ParseStream<'_>) -> Result<usize> {
    input.parse::<Token![|]>()?;
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
    Ok(params.len())
}

/// The closure without the comma that may stand behind it, as behind any last argument.
fn without_last_comma(closure: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = closure.into_iter().collect();
    if matches!(tokens.last(), Some(TokenTree::Punct(last)) if last.as_char() == ',') {
        tokens.pop();
    }
    tokens.into_iter().collect()
}
