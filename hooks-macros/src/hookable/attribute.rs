//! `#[hookable]`: parse, then model, then expand.

use proc_macro2::TokenStream;
use quote::quote;

use crate::hookable::expand::{hookable_trait, inherent, trait_impl};
use crate::hookable::model::{Block, Role};
use crate::hookable::parse;
use crate::support::helpers::without_helpers;

// Input:  `#[hookable] impl Agent { pub fn reply(&self) {} }`
// Output: the impl with a wrapper and a body, the args struct, the hook point
pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    let mut input: parse::Input = match syn::parse2(item.clone()) {
        Ok(input) => input,
        Err(error) => {
            let item = without_helpers(item.clone(), &["hook", "arg"]);
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = input.take_errors();
    let model = match &input {
        parse::Input::Block(block) => Block::of_impl(attr, block, &mut errors),
        parse::Input::Trait(item) => Block::of_trait(attr, item, &mut errors),
    };
    let errors = errors.or(()).err();
    let expansion = match &model.role {
        _ if model.is_refused => input.without_helpers(),
        Role::Impl(base) => trait_impl::block(&model, base),
        Role::Own(base) => inherent::block(&model, base.as_ref()),
        Role::Trait(head) => hookable_trait::item(&model, head),
    };
    quote!(#expansion #errors)
}
