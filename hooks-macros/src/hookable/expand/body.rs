//! The body of a method of a hookable trait: in an impl, or the default one of the trait.

use proc_macro2::{Group, TokenStream};
use quote::{quote, quote_spanned};
use syn::Pat;

use crate::hookable::model::{Block, Method};
use crate::hookable::signature::params::Param;
use crate::hookable::signature::returned::Form;
use crate::support::spans::shown_at;

// Input:  `async fn reply(&self, mut msg: Msg) -> Msg { body }`
// Output: `Box::pin(async move { .. let mut msg = msg; body })`
pub(crate) fn method_body(block: &Block, method: &Method, body: &Group) -> TokenStream {
    let bindings = method.params.iter().map(binding);
    match method.returned.form {
        Form::Async => boxed_body(block, method, body),
        Form::Value | Form::Boxed => quote!(#(#bindings)* #body),
        Form::Opaque => {
            let boxed = block.runtime.private("Box");
            quote!(#(#bindings)* #boxed::pin(#body))
        }
    }
}

// Input:  `async fn reply(&self, mut msg: Msg) -> Msg { body }`
// Output: `Box::pin(async move { if let Some(never) = None::<Msg> { return never; } let mut msg = msg; body })`
fn boxed_body(block: &Block, method: &Method, body: &Group) -> TokenStream {
    let (boxed, option) = (block.runtime.private("boxed"), block.runtime.private("Option"));
    let ty = &method.returned.ty;
    let bindings = method.params.iter().map(binding);
    // At the method: a future that is not `Send` is shown there.
    let span = shown_at(method.sig.ident.span());
    // A block has no place for the type of what it returns, so a return that never happens says it.
    quote_spanned! {span=>
        #boxed(async move {
            if let #option::Some(never) = #option::None::<#ty> {
                return never;
            }
            #(#bindings)*
            #body
        })
    }
}

/// A parameter as the body wants it. It is moved even if nothing is made of it, so that it is dropped when
/// the body ends, the last one first.
fn binding(param: &Param) -> TokenStream {
    let (name, pattern, cfgs) = (&param.public_name, &param.pattern, param.cfgs());
    match pattern {
        Pat::Ident(_) => quote!(#(#cfgs)* let #pattern = #name;),
        _ => {
            let again = cfgs.clone();
            quote!(#(#cfgs)* let #name = #name; #(#again)* let #pattern = #name;)
        }
    }
}
