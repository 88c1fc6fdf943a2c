//! Tokens: what an impl of a hookable trait becomes. Nothing here can fail.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Path, Signature, Visibility};

use crate::attrs::is_lint_level;
use crate::expand_trait::{call_ident, mark, signature};
use crate::model::{Block, Item, Method};
use crate::parse::is_inner;
use crate::parts::{arguments, body_ident, constants, hooked_methods, private, unused};
use crate::returned::Form;

// Input:  `impl Agent for Assistant { async fn reply(&self, msg: Msg) -> Msg { .. } }`
// Output: the impl with a method that hands the call on to the trait, and its body; then per method
//         the hook types and a hook point of the type
pub(crate) fn block(block: &Block, base: &Path) -> TokenStream {
    let Block { attrs, generics, self_ty, items, .. } = block;
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
    let (unused, private, mark) = (unused(), private(), mark());
    quote! {
        #private
        #(#outer)*
        impl #impl_generics #base for #self_ty #clause {
            #(#inner)*
            #(#items)*
            fn #mark() {}
        }
        #(#aliases)*
        #unused
        impl #impl_generics #self_ty #clause { #(#constants)* }
        #(#points)*
        #methods
    }
}

// Input:  `async fn reply(&self, msg: Msg) -> Msg { .. }`
// Output: `fn reply<'hook>(&'hook self, msg: Msg) -> BoxFuture<'hook, Msg> { <dyn Agent>::__hooks_call_reply(self, msg) }`
//         `fn __hooks_reply<'hook>(&'hook self, msg: Msg) -> BoxFuture<'hook, Msg> { Box::pin(async move { .. }) }`
fn methods(block: &Block, method: &Method, dyn_base: &TokenStream) -> TokenStream {
    let Method { cfgs, public_attrs, body_attrs, body, .. } = method;
    let sig = signature(block, method);
    let body_sig = Signature { ident: body_ident(method), ..sig.clone() };
    let receiver = sig.receiver().map(|receiver| receiver.self_token);
    let (call, arguments) = (call_ident(method), arguments(method));
    let (docs, others) = public_attrs
        .iter()
        .partition::<Vec<_>, _>(|attr| attr.path().is_ident("doc") || is_lint_level(attr));
    let bindings = bindings(method);
    let body = match method.returned.form {
        Form::Async => boxed_body(block, method),
        Form::Value | Form::Boxed => quote!(#(#bindings)* #body),
        Form::Opaque => {
            let boxed = block.runtime.private("Box");
            quote!(#(#bindings)* #boxed::pin(#body))
        }
    };
    quote! {
        #(#cfgs)* #(#docs)*
        #sig { <#dyn_base>::#call(#receiver, #arguments) }
        #(#cfgs)* #(#body_attrs)* #(#others)*
        #body_sig { #body }
    }
}

// Input:  `async fn reply(&self, mut msg: Msg) -> Msg { body }`
// Output: `Box::pin(async move { if let Some(never) = None::<Msg> { return never; } let mut msg = msg; body })`
fn boxed_body(block: &Block, method: &Method) -> TokenStream {
    let Method { body, returned, .. } = method;
    let (boxed, option) = (block.runtime.private("Box"), block.runtime.private("Option"));
    let ty = &returned.ty;
    let bindings = bindings(method);
    // At the method: a future that is not `Send` is shown there.
    let span = method.sig.ident.span();
    // A block has no place for the type of what it returns, so a return that never happens says it.
    quote_spanned! {span=>
        #boxed::pin(async move {
            if let #option::Some(never) = #option::None::<#ty> {
                return never;
            }
            #(#bindings)*
            #body
        })
    }
}

/// The parameters as the body wants them. They are moved even if nothing is made of them, so that they
/// are dropped when the body ends, the last one first.
fn bindings(method: &Method) -> Vec<TokenStream> {
    let binding = |param: &crate::params::Param| {
        let (attrs, name, pattern) = (&param.attrs, &param.name, &param.pattern);
        let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        match pattern {
            syn::Pat::Ident(_) => quote!(#(#cfgs)* let #pattern = #name;),
            _ => {
                let again = cfgs.clone();
                quote!(#(#cfgs)* let #name = #name; #(#again)* let #pattern = #name;)
            }
        }
    };
    method.params.iter().map(binding).collect()
}

// Input:  `async fn reply(&self, msg: Msg) -> Msg`
// Output: `impl HookPoint<<dyn Agent as TraitMethod<..>>::Args> for Assistant { .. }`
fn hook_point(block: &Block, method: &Method, dyn_base: &TokenStream) -> TokenStream {
    let Block { runtime, generics, self_ty, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let (cfgs, name) = (&method.cfgs, method.name());
    let args_ty = args_type(block, method, dyn_base);
    let (hook_point, around_point) = (runtime.public("HookPoint"), runtime.public("AroundPoint"));
    let (class_hooks, running) = (runtime.private("ClassHooks"), runtime.private("Running"));
    let (option, reentry) = (runtime.private("Option"), runtime.private("Reentry"));
    let point = quote!(<#dyn_base as #hook_point<#args_ty>>);
    quote! {
        #(#cfgs)*
        impl #impl_generics #hook_point<#args_ty> for #self_ty #clause {
            type Return = #point::Return;
            type Kind = #point::Kind;
            type Mode = #point::Mode;
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
        impl #impl_generics #around_point<#args_ty> for #self_ty #clause {
            fn start(&self, args: #args_ty) -> #running<'_, Self, #args_ty> {
                #around_point::start(self as &(#dyn_base), args)
            }
        }
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
    let (name, self_ty) = (method.name(), &block.self_ty);
    quote_spanned! {method.sig.ident.span()=>
        <#dyn_base as #trait_method<{ #id(#name) }, #self_ty>>::Args
    }
}

fn alias_ident(method: &Method) -> Ident {
    format_ident!("__Hooks{}", method.args_ident, span = method.sig.ident.span())
}
