//! The names and types by which the parts of an expansion refer to each other.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, Pat, PatIdent, PatType, Signature};

use crate::hookable::model::{Block, Method};

/// The args struct with its generics.
pub(crate) fn args_type(method: &Method) -> TokenStream {
    let ident = &method.args_ident;
    let (_, generics, _) = method.args_generics.split_for_impl();
    quote!(#ident #generics)
}

/// What the method returns, or what the output of its future is: a type that has values where `!`
/// has none may be named anywhere.
pub(crate) fn return_type(block: &Block, method: &Method) -> TokenStream {
    if method.returned.is_never() {
        block.runtime.private("Never")
    } else {
        method.returned.ty.to_token_stream()
    }
}

/// The parameters of a method without its receiver.
pub(crate) fn typed(sig: &mut Signature) -> impl Iterator<Item = &mut PatType> {
    sig.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(param) => Some(param),
        FnArg::Receiver(_) => None,
    })
}

/// Gives the parameters names in place of patterns.
pub(crate) fn name_params(sig: &mut Signature, method: &Method) {
    for (input, param) in typed(sig).zip(&method.params) {
        input.attrs.retain(|attr| !attr.path().is_ident("arg"));
        *input.pat = named(&param.public_name);
    }
}

/// The pattern that is just a name.
fn named(name: &Ident) -> Pat {
    let ident = name.clone();
    Pat::Ident(PatIdent { attrs: Vec::new(), by_ref: None, mutability: None, ident, subpat: None })
}

/// The parameters as arguments.
pub(crate) fn arguments(method: &Method) -> TokenStream {
    let names = method.params.iter().map(|param| {
        let (cfgs, name) = (param.cfgs(), &param.public_name);
        quote!(#(#cfgs)* #name)
    });
    quote!(#(#names),*)
}

/// The fields of the args struct as arguments of the body.
pub(crate) fn unpacked(block: &Block, method: &Method, args: &Ident) -> TokenStream {
    let fields = method.params.iter().map(|param| param.unpack(args, &block.runtime));
    quote!(#(#fields),*)
}

// Output: `let args = AgentReplyArgs { msg };`
pub(crate) fn packing(block: &Block, method: &Method, args: &Ident) -> TokenStream {
    let args_ident = &method.args_ident;
    let fields = method.params.iter().map(|param| param.pack(&block.runtime));
    quote!(let #args = #args_ident { #(#fields),* };)
}
