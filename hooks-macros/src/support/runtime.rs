//! The paths of the runtime: the only place that spells them.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

/// How expansions reach `hooks-core`.
pub(crate) struct Runtime {
    krate: TokenStream,
}

impl Runtime {
    /// By the given path, or by the crate's own name.
    pub(crate) fn new(krate: Option<Path>) -> Self {
        let krate = krate.map_or_else(|| quote!(::hooks_core), ToTokens::into_token_stream);
        Self { krate }
    }

    // Input:  `HookError`
    // Output: `::hooks_core::HookError`
    pub(crate) fn public(&self, name: &str) -> TokenStream {
        let krate = &self.krate;
        let name = ident(name);
        quote!(#krate::#name)
    }

    // Output: `::hooks_core::__private`
    pub(crate) fn module(&self) -> TokenStream {
        let krate = &self.krate;
        quote!(#krate::__private)
    }

    // Input:  `run`
    // Output: `::hooks_core::__private::run`
    pub(crate) fn private(&self, name: &str) -> TokenStream {
        let (module, name) = (self.module(), ident(name));
        quote!(#module::#name)
    }
}

fn ident(name: &str) -> Ident {
    format_ident!("{name}")
}
