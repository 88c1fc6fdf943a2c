//! `on!`: a closure of one event as an event hook; an async one is boxed where its type is known.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Error, ExprClosure, GenericArgument, Lifetime, Pat, Path, PathArguments, Result, Token, Type,
};

use crate::support::types::ungrouped;

/// The input of `on!`.
struct On {
    /// The path of `hooks-agent`.
    krate: Path,
    closure: ExprClosure,
    /// The type of the event, with `'static`.
    event: Path,
}

// Input:  `$crate, async move |event: &mut PreCall<'_>| Ok(())`
// Output: `bind::<PreCall<'static>, _, _, _>(async move |event: ..| Ok(()), |handler, event| ..)`
// Input:  `$crate, |event: &mut PreCall<'_>| ()`
// Output: `on(|event: &mut PreCall<'_>| ())`
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let On { krate, closure, event } = match syn::parse2(input) {
        Ok(on) => on,
        Err(error) => return error.into_compile_error(),
    };
    if closure.asyncness.is_none() {
        return quote!(#krate::hook::on(#closure));
    }
    let name = |name: &str| Ident::new(name, Span::mixed_site());
    let (handler, given) = (name("handler"), name("event"));
    quote! {
        #krate::hook::bind::<#event, _, _, _>(
            #closure,
            |#handler, #given| ::std::boxed::Box::pin(#handler(#given)),
        )
    }
}

impl Parse for On {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let krate = input.call(Path::parse_mod_style)?;
        input.parse::<Token![,]>()?;
        let start = input.span();
        let closure: ExprClosure = input.parse().map_err(|error| {
            let message =
                "expected a closure of one event: `async move |event: &mut PreCall<'_>| ..`";
            Error::new(if input.is_empty() { start } else { error.span() }, message)
        })?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            return Err(input.error("expected one closure; name the hook by `.named(\"..\")`"));
        }
        let event = event_of(&closure)?;
        Ok(Self { krate, closure, event })
    }
}

// Input:  `|event: &mut PreCall<'_>| ..`
// Output: `PreCall<'static>`
fn event_of(closure: &ExprClosure) -> Result<Path> {
    let message = "a closure of `on!` takes one event, with its type: `|event: &mut PreCall<'_>|`";
    let error = |span| Err(Error::new(span, message));
    let (Some(Pat::Type(param)), 1) = (closure.inputs.first(), closure.inputs.len()) else {
        return error(closure.inputs_begin.span());
    };
    let Type::Reference(reference) = ungrouped(&param.ty) else {
        return error(param.ty.span());
    };
    let Type::Path(event) = ungrouped(&reference.elem) else {
        return error(param.ty.span());
    };
    let mut event = event.path.clone();
    if let Some(PathArguments::AngleBracketed(arguments)) =
        event.segments.last_mut().map(|segment| &mut segment.arguments)
    {
        for argument in &mut arguments.args {
            if let GenericArgument::Lifetime(lifetime) = argument {
                *lifetime = Lifetime::new("'static", lifetime.span());
            }
        }
    }
    Ok(event)
}
