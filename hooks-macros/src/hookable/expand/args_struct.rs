//! The args struct: the arguments of a method by name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Path, Visibility, parse_quote};

use crate::hookable::attrs::is_lint_level;
use crate::hookable::expand::lints::unused;
use crate::hookable::model::{Block, Method};
use crate::support::spans::shown_at;

// Input:  `pub async fn reply(&self, msg: Msg, style: Option<&str>) -> Msg`
// Output: `pub struct AgentReplyArgs { pub msg: Msg, pub style: Option<String> }`, with `Debug` and `Clone`
pub(crate) fn args_struct(block: &Block, method: &Method, vis: &Visibility) -> TokenStream {
    let Method { cfgs, body_attrs, args_ident, args_generics, params, .. } = method;
    let (generics, _, clause) = args_generics.split_for_impl();
    let derives = derives(method);
    let derives = (!derives.is_empty()).then(|| quote!(#[derive(#(#derives),*)]));
    let json = block.is_json.then(|| json_derives(block, method));
    let non_exhaustive = block.is_non_exhaustive.then(|| quote!(#[non_exhaustive]));
    let unused = unused();
    // Underscores that tell methods apart.
    let has_underscore = args_ident.to_string().contains('_');
    let naming = has_underscore.then(|| quote!(#[allow(non_camel_case_types)]));
    let lints = body_attrs.iter().filter(|attr| is_lint_level(attr));
    let doc = format!(" The arguments of [`{}::{}`].", block.ident, method.name());
    let fields = params.iter().map(|param| {
        let (attrs, name, ty) = (&param.attrs, &param.name, &param.field_ty);
        let doc = format!(" The argument `{name}`.");
        quote!(#(#attrs)* #[doc = #doc] #vis #name: #ty)
    });
    let impls = has_own_impls(method).then(|| own_impls(block, method));
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #derives
        #json
        #unused
        #naming
        #(#lints)*
        #non_exhaustive
        #vis struct #args_ident #generics #clause { #(#fields),* }
        #impls
    }
}

/// Whether `Debug` and `Clone` are written out: then an argument need not be `Debug`, and the error for one that
/// is not `Clone` names the cure. Generic structs derive both, for the bounds.
fn has_own_impls(method: &Method) -> bool {
    method.args_generics.params.is_empty()
}

/// What is derived, without what is written out.
fn derives(method: &Method) -> Vec<Path> {
    let written = if has_own_impls(method) { &["Debug", "Clone"][..] } else { &[] };
    let is_written = |path: &Path| is_one_of(path, written);
    asked(method).into_iter().filter(|path| !is_written(path)).collect()
}

fn asked(method: &Method) -> Vec<Path> {
    let default = || vec![parse_quote!(::core::fmt::Debug), parse_quote!(::core::clone::Clone)];
    method.derives.clone().unwrap_or_else(default)
}

/// Whether a path is one of the names, alone or in the standard library.
fn is_one_of(path: &Path, names: &[&str]) -> bool {
    let of_std = |first: &syn::PathSegment| first.ident == "core" || first.ident == "std";
    let is_std = path.segments.len() == 1 || path.segments.first().is_some_and(of_std);
    is_std && path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
}

// Output: `impl Clone for AgentReplyArgs { .. } impl Debug for AgentReplyArgs { .. }`
fn own_impls(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, args_ident, params, .. } = method;
    let runtime = &block.runtime;
    let clone_arg = runtime.private("CloneArg");
    let clones = params.iter().map(|param| {
        let (cfgs, name) = (param.cfgs(), &param.name);
        // At its type: one that is not `Clone` is shown there.
        let span = shown_at(param.field_ty.span());
        let clone = quote_spanned!(span=> clone_arg(&self.#name));
        quote!(#(#cfgs)* #name: #clone_arg::#clone)
    });
    let shown = runtime.private("Shown");
    let fields = params.iter().map(|param| {
        let (cfgs, name) = (param.cfgs(), &param.name);
        let text = name.unraw().to_string();
        quote!(#(#cfgs)* shown.field(#text, (&#shown(&self.#name)).shown());)
    });
    let name = args_ident.to_string();
    let private = runtime.module();
    let in_scope = (!params.is_empty()).then(|| {
        quote! {
            #[allow(unused_imports)]
            use #private::{ShowAny as _, ShowDebug as _};
        }
    });
    let is_asked = |name: &str| asked(method).iter().any(|path| is_one_of(path, &[name]));
    let clone = is_asked("Clone").then(|| {
        quote! {
            #(#cfgs)*
            impl ::core::clone::Clone for #args_ident {
                fn clone(&self) -> Self {
                    Self { #(#clones),* }
                }
            }
        }
    });
    let debug = is_asked("Debug").then(|| {
        quote! {
            #(#cfgs)*
            impl ::core::fmt::Debug for #args_ident {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    #in_scope
                    let mut shown = f.debug_struct(#name);
                    #(#fields)*
                    shown.finish()
                }
            }
        }
    });
    quote!(#clone #debug)
}

/// What JSON needs of an args struct, unless it is derived already. Found here, so that the crate need not
/// know of it.
fn json_derives(block: &Block, method: &Method) -> TokenStream {
    let derives = derives(method);
    let is_derived = |name: &str| {
        derives.iter().any(|path| path.segments.last().is_some_and(|it| it.ident == name))
    };
    let serde = block.runtime.private("serde");
    let missing = ["Serialize", "Deserialize"].into_iter().filter(|name| !is_derived(name));
    let missing: Vec<_> = missing.map(|name| Ident::new(name, Span::mixed_site())).collect();
    if missing.is_empty() {
        return TokenStream::new();
    }
    let path = serde.to_string().replace(' ', "");
    quote!(#[derive(#(#serde::#missing),*)] #[serde(crate = #path)])
}
