//! An impl of a hookable trait.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Path, Signature, Visibility};

use crate::hookable::attrs::is_lint_level;
use crate::hookable::expand::body::method_body;
use crate::hookable::expand::hook_point::{constants, heading, hooked_methods, rest};
use crate::hookable::expand::hookable_trait::{as_dyn, call_ident, mark, signature};
use crate::hookable::expand::lints::{private, unused};
use crate::hookable::expand::names::arguments;
use crate::hookable::model::{Block, Item, Method, Unmarked};
use crate::hookable::parse::is_inner;
use crate::support::spans::shown_at;

// Input:  `impl Agent for Assistant { async fn reply(&self, msg: Msg) -> Msg { .. } }`
// Output: the impl with a method that hands the call on to the trait, and its body; then per method
//         the hook types and a hook point of the type
pub(crate) fn block(block: &Block, base: &Path) -> TokenStream {
    let Block { attrs, unsafety, generics, self_ty, items, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let (inner, outer) = attrs.iter().partition::<Vec<_>, _>(|attr| is_inner(attr));
    let dyn_base = quote!(dyn #base);
    let items = items.iter().map(|item| match item {
        Item::Plain(item) => item.clone(),
        Item::Hooked(method) => methods(block, method, &dyn_base),
    });
    let aliases = block.methods().map(|method| args_alias(block, method, &dyn_base));
    let constants = block.methods().map(|method| {
        let vis: Visibility = syn::parse_quote!(pub);
        constants(block, method, &vis, &args_type(block, method, &dyn_base))
    });
    let points = block.methods().map(|method| hook_point(block, method, &dyn_base));
    let known = quote!(<#dyn_base>::__HOOKS_METHODS);
    let methods = hooked_methods(block, Some(&dyn_base), &known);
    let unhooked = block.unmarked.iter().map(|method| unhooked(block, method, &known));
    let (unused, private, mark) = (unused(), private(), mark());
    let heading = heading(block);
    let as_dyn = as_dyn(&dyn_base);
    quote! {
        #private
        #(#outer)*
        #unsafety impl #impl_generics #base for #self_ty #clause {
            #(#inner)*
            fn #mark #as_dyn { self }
            #(#items)*
        }
        #(#aliases)*
        #heading
        #unused
        impl #impl_generics #self_ty #clause { #(#constants)* }
        #(#points)*
        #(#unhooked)*
        #methods
    }
}

// Output: `const _: () = assert_unhooked(<dyn Agent>::__HOOKS_METHODS, "name");`
/// A method that the trait hooks may not be left unmarked: its hooks would be lost.
fn unhooked(block: &Block, method: &Unmarked, known: &TokenStream) -> TokenStream {
    let Unmarked { name, cfgs } = method;
    let text = name.unraw().to_string();
    let assert = block.runtime.private("assert_unhooked");
    let span = shown_at(name.span());
    quote_spanned!(span=> #(#cfgs)* const _: () = #assert(#known, #text);)
}

// Input:  `async fn reply(&self, msg: Msg) -> Msg { .. }`
// Output: `fn reply<'hook>(&'hook self, msg: Msg) -> BoxFuture<'hook, Msg> { <dyn Agent>::__hooks_call_reply(self, msg) }`
//         `fn __hooks_reply<'hook>(&'hook self, msg: Msg) -> BoxFuture<'hook, Msg> { Box::pin(async move { .. }) }`
fn methods(block: &Block, method: &Method, dyn_base: &TokenStream) -> TokenStream {
    let Method { cfgs, public_attrs, body_attrs, body, .. } = method;
    if let Some(method) = method.refused.as_ref().filter(|_| method.is_never_dyn()) {
        return method.clone();
    }
    let sig = signature(block, method);
    let body_sig = Signature { ident: method.body_ident.clone(), ..sig.clone() };
    let receiver = sig.receiver().map(|receiver| receiver.self_token);
    let (call, arguments) = (call_ident(method), arguments(method));
    let (docs, others) = public_attrs
        .iter()
        .partition::<Vec<_>, _>(|attr| attr.path().is_ident("doc") || is_lint_level(attr));
    let body = body.as_ref().map(|body| match method.refused {
        None => method_body(block, method, body),
        Some(_) => {
            let refused = block.runtime.private("refused");
            quote!(#refused((#arguments)))
        }
    });
    quote! {
        #(#cfgs)* #(#docs)*
        #sig { <#dyn_base>::#call(#receiver, #arguments) }
        #(#cfgs)* #(#body_attrs)* #(#others)*
        #body_sig { #body }
    }
}

// Input:  `async fn reply(&self, msg: Msg) -> Msg`
// Output: `impl HookPoint<<dyn Agent as TraitMethod<..>>::Args> for Assistant { .. }`
fn hook_point(block: &Block, method: &Method, dyn_base: &TokenStream) -> TokenStream {
    let Block { runtime, generics, self_ty, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let (cfgs, name) = (&method.cfgs, &method.name);
    let args_ty = args_type(block, method, dyn_base);
    let hook_point = runtime.public("HookPoint");
    let class_hooks = runtime.private("ClassHooks");
    let (option, reentry) = (runtime.private("Option"), runtime.private("Reentry"));
    let point = quote!(<#dyn_base as #hook_point<#args_ty>>);
    let rest = rest(block, method);
    let (body_point, start) = if method.is_async() {
        let (body, boxed) = (runtime.public("AsyncBody"), runtime.public("BoxFuture"));
        let start = quote! {
            fn body(
                &self,
                args: #args_ty,
            ) -> impl ::core::future::Future<Output = Self::Return> + ::core::marker::Send {
                #body::body(self as &(#dyn_base), args)
            }
            fn boxed_body(&self, args: #args_ty) -> #boxed<'_, Self::Return> {
                #body::boxed_body(self as &(#dyn_base), args)
            }
        };
        (body, start)
    } else {
        let (around, running) = (runtime.public("AroundPoint"), runtime.private("Running"));
        let start = quote! {
            fn start(&self, args: #args_ty) -> #running<'_, Self, #args_ty> {
                #around::start(self as &(#dyn_base), args)
            }
        };
        (around, start)
    };
    quote! {
        #(#cfgs)*
        impl #impl_generics #hook_point<#args_ty> for #self_ty #clause {
            type Return = #point::Return;
            type Kind = #point::Kind;
            type Mode = #point::Mode;
            type Rest = #rest;
            type Base = #dyn_base;
            const METHOD: &'static str = #name;
            const INDEX: u32 = #point::INDEX;
            const REENTRY: #reentry = #point::REENTRY;
            fn class() -> &'static #class_hooks {
                static CLASS: #class_hooks = #class_hooks::new();
                &CLASS
            }
            fn as_base(&self) -> #option<&(#dyn_base)> {
                #option::Some(self)
            }
        }
        #(#cfgs)*
        impl #impl_generics #body_point<#args_ty> for #self_ty #clause { #start }
    }
}

// Input:  `async fn reply(&self, msg: Msg) -> Msg`
// Output: `type __HooksAssistantReplyArgs = <dyn Agent as TraitMethod<{ method("reply") }, Assistant>>::Args;`
/// The args struct, wherever the trait is; of a generic type it is written out where it is named.
fn args_alias(block: &Block, method: &Method, dyn_base: &TokenStream) -> Option<TokenStream> {
    if !block.generics.params.is_empty() {
        return None;
    }
    let (cfgs, alias, args) =
        (&method.cfgs, alias_ident(method), args_path(block, method, dyn_base));
    Some(quote!(#(#cfgs)* type #alias = #args;))
}

fn args_type(block: &Block, method: &Method, dyn_base: &TokenStream) -> TokenStream {
    if block.generics.params.is_empty() {
        alias_ident(method).to_token_stream()
    } else {
        args_path(block, method, dyn_base)
    }
}

fn args_path(block: &Block, method: &Method, dyn_base: &TokenStream) -> TokenStream {
    let (trait_method, id) =
        (block.runtime.private("TraitMethod"), block.runtime.private("method"));
    let (name, self_ty) = (&method.name, &block.self_ty);
    quote_spanned! {shown_at(method.sig.ident.span())=>
        <#dyn_base as #trait_method<{ #id(#name) }, #self_ty>>::Args
    }
}

fn alias_ident(method: &Method) -> Ident {
    format_ident!("__Hooks{}", method.args_ident, span = method.sig.ident.span())
}
