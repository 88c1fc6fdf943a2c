//! The args struct: the arguments of a method by name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Path, Visibility, WhereClause, parse_quote};

use crate::hookable::attrs::is_lint_level;
use crate::hookable::expand::lints::unused;
use crate::hookable::model::{Block, Method};
use crate::hookable::signature::generics::name_of;
use crate::support::spans::shown_at;
use crate::support::words::Words;

// Input:  `pub async fn reply(&self, msg: Msg, style: Option<&str>) -> Msg`
// Output: `pub struct AgentReplyArgs { pub msg: Msg, pub style: Option<String> }`, with `Debug` and `Clone`
pub(crate) fn args_struct(block: &Block, method: &Method, vis: &Visibility) -> TokenStream {
    let Method { cfgs, body_attrs, args_ident, args_generics, params, .. } = method;
    let (generics, _, clause) = args_generics.split_for_impl();
    let derives = derives(method);
    let derives = (!derives.is_empty()).then(|| quote!(#[derive(#(#derives),*)]));
    let json = block.options.is_json.then(|| json_derives(block, method));
    let non_exhaustive = block.options.is_non_exhaustive.then(|| quote!(#[non_exhaustive]));
    let unused = unused();
    // Underscores that tell methods apart.
    let has_underscore = args_ident.to_string().contains('_');
    let naming = has_underscore.then(|| quote!(#[allow(non_camel_case_types)]));
    let lints = body_attrs.iter().filter(|attr| is_lint_level(attr));
    let doc = format!(" The arguments of [`{}::{}`].", block.ident, method.sig.ident.unraw());
    let fields = params.iter().map(|param| {
        let (attrs, name, ty) = (&param.attrs, &param.name, &param.field_ty);
        let doc = format!(" The argument `{name}`.");
        quote!(#(#attrs)* #[doc = #doc] #vis #name: #ty)
    });
    let impls = own_impls(block, method);
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

/// What is derived. `Debug` and `Clone` are written out: then an argument need not be `Debug`, the error for one
/// that is not `Clone` names the cure, and a generic struct asks both of its fields, not of its parameters.
fn derives(method: &Method) -> Vec<Path> {
    let is_written = |path: &Path| is_one_of(path, &["Debug", "Clone"]);
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
    let (generics, ty_generics, _) = method.args_generics.split_for_impl();
    let clone = is_asked("Clone").then(|| {
        let clause = where_fields(method, &quote!(::core::clone::Clone));
        quote! {
            #(#cfgs)*
            impl #generics ::core::clone::Clone for #args_ident #ty_generics #clause {
                fn clone(&self) -> Self {
                    Self { #(#clones),* }
                }
            }
        }
    });
    let debug = is_asked("Debug").then(|| {
        let clause = where_fields(method, &quote!(::core::fmt::Debug));
        quote! {
            #(#cfgs)*
            impl #generics ::core::fmt::Debug for #args_ident #ty_generics #clause {
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

// Input:  `M: Model`, the field `input: M::In`, and `Clone`
// Output: `where M::In: Clone`
/// The clause of an args struct, and the bound of every field whose type depends on a parameter.
fn where_fields(method: &Method, bound: &TokenStream) -> Option<WhereClause> {
    let mut generics = method.args_generics.clone();
    let names: Vec<_> = generics.params.iter().map(|param| name_of(param).clone()).collect();
    for param in &method.params {
        let (ty, words) = (&param.field_ty, Words::of(&param.field_ty));
        if names.iter().any(|name| words.contains(name)) {
            generics.make_where_clause().predicates.push(parse_quote!(#ty: #bound));
        }
    }
    generics.where_clause
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
