//! From the attribute and its block to tokens.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, GenericParam, ItemImpl};

use crate::agent_hook::arguments::parse_options;
use crate::agent_hook::around::around_handlers;
use crate::agent_hook::expand::{hook_impl, submission};
use crate::agent_hook::handlers::handlers;
use crate::support::errors::Errors;

// Input:  `#[agent_hook(priority = 10)] impl Guard { async fn deny(&self, event: &mut PreActing<'_>) .. }`
// Output: the block, and `impl AgentHook for Guard { .. }`
pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    let block: ItemImpl = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            let message = "`#[agent_hook]` goes on an impl block of the hook's type";
            let error = Error::new(error.span(), message).into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::default();
    let options = parse_options(attr, &mut errors);
    if let Some((path, _)) = &block.trait_ {
        errors.at(path, "`#[agent_hook]` goes on an impl block of the type alone, without a trait");
    }
    if let Some(GenericParam::Lifetime(lifetime)) =
        block.generics.params.iter().find(|param| matches!(param, GenericParam::Lifetime(_)))
    {
        errors.at(lifetime, "a hook outlives every call: its type has no lifetimes");
    }
    if let (Some(_), Some(param)) = (&options.class, block.generics.params.first()) {
        errors.at(param, "a hook that the linker collects is one value: its type is not generic");
    }
    let before = errors.len();
    let arounds = around_handlers(&block, &mut errors);
    let handlers = handlers(&block, &mut errors);
    let has_none = handlers.is_empty() && arounds.is_empty() && errors.len() == before;
    if has_none && block.trait_.is_none() {
        errors.at(
            &block.self_ty,
            "no method here takes an event: write one like \
             `async fn check(&self, event: &mut PreActing<'_>) -> HookResult<Flow>`",
        );
    }
    match errors.or(()) {
        Ok(()) => {
            let hook = hook_impl(&block, &options, &handlers, &arounds);
            let submission =
                options.class.as_ref().map(|class| submission(&block, &options, class));
            quote!(#block #hook #submission)
        }
        Err(errors) => quote!(#block #errors),
    }
}
