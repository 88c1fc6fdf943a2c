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

/// The path that the manifest of the crate that is compiled has for `hooks-core`; without cargo its own name.
fn found() -> TokenStream {
    static FOUND: OnceLock<Vec<String>> = OnceLock::new();
    let path = FOUND.get_or_init(|| manifest().as_deref().map_or_else(own_name, path_in));
    let segments = path.iter().map(|segment| ident(segment));
    quote!(#(::#segments)*)
}

fn own_name() -> Vec<String> {
    vec!["hooks_core".to_owned()]
}

fn manifest() -> Option<String> {
    let folder = env::var_os("CARGO_MANIFEST_DIR")?;
    fs::read_to_string(std::path::Path::new(&folder).join("Cargo.toml")).ok()
}

// Input:  `hooks-core = "1"`, `hooks = { package = "hooks-core" }`, `hooks-agent = "1"`
// Output: `hooks_core`, `hooks`, `hooks_agent::hooks_core`
/// How a manifest that may name `hooks-core`, rename it, or name `hooks-agent` alone, reaches it.
pub(crate) fn path_in(manifest: &str) -> Vec<String> {
    let mut has_agent = false;
    let mut renamed = None;
    for line in manifest.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let key = line.split(['=', '.']).next().unwrap_or_default().trim().trim_matches('"');
        let is_table_of = |name: &str| line.ends_with(&format!("dependencies.{name}]"));
        if key == "hooks-core" || is_table_of("hooks-core") {
            return own_name();
        }
        has_agent |= key == "hooks-agent" || is_table_of("hooks-agent");
        if line.contains("package = \"hooks-core\"") && key != "package" {
            renamed = Some(vec![key.replace('-', "_")]);
        }
    }
    let by_agent = || vec!["hooks_agent".to_owned(), "hooks_core".to_owned()];
    renamed.or_else(|| has_agent.then(by_agent)).unwrap_or_else(own_name)
}
