//! `#[hookable]`: parse, then model, then expand.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use crate::{expand, model, parse};

// Input:  `#[hookable] impl Agent { pub fn reply(&self) {} }`
// Output: the impl with a wrapper and a body, the args struct, the hook point
pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    let block: parse::Block = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::default();
    let model = model::Block::new(attr, &block, &mut errors);
    match errors.or(model) {
        Ok(model) => expand::block(&model),
        Err(errors) => {
            let kept = block.without_helpers();
            quote!(#kept #errors)
        }
    }
}
