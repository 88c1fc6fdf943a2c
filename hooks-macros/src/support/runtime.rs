//! The paths of the runtime: the only place that spells them.

use std::sync::OnceLock;
use std::{env, fs};

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

/// `::hooks_core`, or `::hooks_agent::hooks_core` for a crate that depends on `hooks-agent` alone.
fn found() -> TokenStream {
    static IS_BY_AGENT: OnceLock<bool> = OnceLock::new();
    if *IS_BY_AGENT.get_or_init(|| manifest().is_some_and(|text| depends_on_agent_alone(&text))) {
        quote!(::hooks_agent::hooks_core)
    } else {
        quote!(::hooks_core)
    }
}

/// The manifest of the crate that is compiled, if cargo compiles it.
fn manifest() -> Option<String> {
    let folder = env::var_os("CARGO_MANIFEST_DIR")?;
    fs::read_to_string(std::path::Path::new(&folder).join("Cargo.toml")).ok()
}

/// Whether a manifest names `hooks-agent` as a dependency, and `hooks-core` nowhere.
pub(crate) fn depends_on_agent_alone(manifest: &str) -> bool {
    let names = |name: &str| {
        manifest.lines().any(|line| {
            let line = line.split('#').next().unwrap_or_default().trim();
            let key = line.split(['=', '.']).next().unwrap_or_default().trim().trim_matches('"');
            let of_table = line.ends_with(&format!("dependencies.{name}]"));
            let renamed = line.contains(&format!("package = \"{name}\""));
            key == name || of_table || renamed
        })
    };
    names("hooks-agent") && !names("hooks-core")
}
