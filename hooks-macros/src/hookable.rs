//! `#[hookable]`: parse, then model, then expand.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use crate::model::Role;
use crate::{expand, expand_impl, expand_trait, model, parse};

// Input:  `#[hookable] impl Agent { pub fn reply(&self) {} }`
// Output: the impl with a wrapper and a body, the args struct, the hook point
pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    let input: parse::Input = match syn::parse2(item.clone()) {
        Ok(input) => input,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::default();
    let model = match &input {
        parse::Input::Block(block) => model::Block::of_impl(attr, block, &mut errors),
        parse::Input::Trait(item) => model::Block::of_trait(attr, item, &mut errors),
    };
    match (&model.role, errors.or(())) {
        (Role::Inherent, Ok(())) => expand::block(&model),
        (Role::Trait(head), Ok(())) => expand_trait::item(&model, head),
        (Role::Impl(base), Ok(())) => expand_impl::block(&model, base),
        // Without its expansion it would not be an impl of the trait, which is expanded.
        (Role::Impl(base), Err(errors)) => {
            let block = expand_impl::block(&model, base);
            quote!(#block #errors)
        }
        (_, Err(errors)) => {
            let kept = input.without_helpers();
            quote!(#kept #errors)
        }
    }
}
