//! The paths of the runtime: the only place that spells them.

use proc_macro_crate::FoundCrate;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

/// How expansions reach `hooks-core`.
pub(crate) struct Runtime {
    krate: TokenStream,
}

impl Runtime {
    /// By the given path, or by the name that the crate's manifest has for it.
    pub(crate) fn new(krate: Option<Path>) -> Self {
        let krate = krate.map_or_else(found, ToTokens::into_token_stream);
        Self { krate }
    }

    // Input:  `HookError`
    // Output: `::hooks_core::HookError`
    pub(crate) fn public(&self, name: &str) -> TokenStream {
        let (krate, name) = (&self.krate, ident(name));
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

/// How the crate that is compiled reaches `hooks-core`: by the name that its manifest has for it, else
/// through the crate of agents; without a manifest that can be read, by its own name.
fn found() -> TokenStream {
    let core = named("hooks-core", "hooks_core");
    let by_agent = || found_agent().map(|agent| quote!(#agent::hooks_core));
    core.or_else(by_agent).unwrap_or_else(|| quote!(::hooks_core))
}

/// How the crate that is compiled reaches agents: `hooks-agent-core`, else `hooks-agent`, which has the same
/// under the same paths.
pub(crate) fn agent() -> TokenStream {
    found_agent().unwrap_or_else(|| quote!(::hooks_agent))
}

// A crate that publishes hooks may have `hooks-agent` for its tests alone.
fn found_agent() -> Option<TokenStream> {
    let core = named("hooks-agent-core", "hooks_agent_core");
    core.or_else(|| named("hooks-agent", "hooks_agent"))
}

// Input:  `hooks-core`, `hooks_core`, in a crate with `hooks = { package = "hooks-core" }`
// Output: `::hooks`; nothing in a crate that has no such dependency
fn named(package: &str, own_name: &str) -> Option<TokenStream> {
    let name = match proc_macro_crate::crate_name(package).ok()? {
        FoundCrate::Itself => own_name.to_owned(),
        FoundCrate::Name(name) => name,
    };
    let name: Ident = syn::parse_str(&name).ok()?;
    Some(quote!(::#name))
}
