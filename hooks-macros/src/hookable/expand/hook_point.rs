//! The hook types and the hook point of a method.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::hookable::attrs::Reentry;
use crate::hookable::expand::names::{args_type, return_type, unpacked};
use crate::hookable::model::{Block, Method, Role};
use crate::support::spans::{respanned, shown_at};

// Input:  `impl Agent for Assistant { .. }`
// Output: `#[doc = " # Hook types of `Agent`"]`
/// The docs of the block of the hook types, which follows the methods on the page of the type.
pub(crate) fn heading(block: &Block) -> TokenStream {
    let (Role::Impl(base) | Role::Own(Some(base))) = &block.role else {
        return quote!(#[doc = " # Hook types"]);
    };
    let base = base.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    let heading = format!(" # Hook types of `{base}`");
    if let Role::Own(_) = block.role {
        return quote!(#[doc = #heading]);
    }
    let args = format!(" The hook types of `dyn {base}` name their args structs.");
    quote!(#[doc = #heading] #[doc = ""] #[doc = #args])
}

// Input:  `pub async fn reply(&self, msg: Msg)`
// Output: `pub const PRE_REPLY: ::hooks_core::Pre<Self, AgentReplyArgs> = ::hooks_core::Pre::new();`
pub(crate) fn constants(
    block: &Block,
    method: &Method,
    vis: &Visibility,
    args: &TokenStream,
) -> TokenStream {
    let Method { cfgs, .. } = method;
    let constant = |prefix: &str, slot: &str, doc: &str| {
        let doc = format!(" Hooks {doc} `{}`.", method.sig.ident.unraw());
        let name = method.name.to_uppercase();
        let ident = format_ident!("{prefix}_{name}", span = method.sig.ident.span());
        let ty = block.runtime.public(slot);
        quote!(#(#cfgs)* #[doc = #doc] #vis const #ident: #ty<Self, #args> = #ty::new();)
    };
    let pre = constant("PRE", "Pre", "before");
    // Also where there can be none: using it then says why.
    let around = constant("AROUND", "Around", "around");
    let post = constant("POST", "Post", "after");
    // Of a method that a trait declares it is known there only.
    let has_error = method.is_fallible || matches!(block.role, Role::Impl(_));
    let error = has_error.then(|| constant("ERROR", "OnError", "after a failure of"));
    let settled = constant("SETTLED", "OnSettled", "at the very end of");
    quote!(#pre #around #post #error #settled)
}

/// Returns the number whose bit says whether a registry has hooks of the method. Points that share one cost
/// each other a look-up: those of traits are apart from those of their types, and of other traits.
fn index(block: &Block, method: &Method) -> u32 {
    let Role::Trait(_) = &block.role else { return method.index };
    let name = block.ident.to_string();
    let add = |hash: u32, byte: u8| hash.wrapping_mul(31).wrapping_add(byte.into());
    let of_trait = name.bytes().fold(0, add);
    32 + of_trait.wrapping_add(method.index) % 32
}

// Input:  `pub async fn reply(&self, msg: Msg) -> Result<Msg, Error>`
// Output: `impl ::hooks_core::HookPoint<AgentReplyArgs> for Agent { type Return = ..; .. }`
pub(crate) fn hook_point(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, .. } = method;
    let index = index(block, method);
    let returned = return_type(block, method);
    let Block { runtime, generics, self_ty, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let args = args_type(method);
    let name = &method.name;
    let hook_point = runtime.public("HookPoint");
    let kind =
        runtime.private(if method.is_fallible { "FallibleMethod" } else { "InfallibleMethod" });
    // At the return type: an error that cannot carry a hook's failure is shown there.
    let kind = respanned(kind, method.returned.ty.span());
    let mode = runtime.private(if method.is_async() { "AsyncMethod" } else { "SyncMethod" });
    let class_hooks = runtime.private("ClassHooks");
    let reentry = match method.reentry {
        Reentry::Skip => None,
        Reentry::Run => Some(quote!(Run)),
        Reentry::Deny => Some(quote!(Deny)),
    };
    let reentry = reentry.map(|reentry| {
        let ty = runtime.private("Reentry");
        quote!(const REENTRY: #ty = #ty::#reentry;)
    });
    let around_point = method.has_around().then(|| runnable_body(block, method));
    let rest = rest(block, method);
    // Of a generic type there is no one point that the linker could know.
    let json = (block.options.is_json && generics.params.is_empty()).then(|| {
        let (inventory, json_point) = (runtime.private("inventory"), runtime.private("JsonPoint"));
        quote!(#(#cfgs)* #inventory::submit! { #json_point::new::<#self_ty, #args>(#name) })
    });
    quote! {
        #json
        #around_point
        #(#cfgs)*
        impl #impl_generics #hook_point<#args> for #self_ty #clause {
            type Return = #returned;
            type Kind = #kind;
            type Mode = #mode;
            type Rest = #rest;
            type Base = Self;
            const METHOD: &'static str = #name;
            const INDEX: u32 = #index;
            #reentry
            fn class() -> &'static #class_hooks {
                static CLASS: #class_hooks = #class_hooks::new();
                &CLASS
            }
        }
    }
}

// Output: `::hooks_core::__private::Found`
/// Where the rest of a call is that has more than simple hooks: where these are registered, if they may be
/// run from there.
pub(crate) fn rest(block: &Block, method: &Method) -> TokenStream {
    let rest = block.runtime.private(match (method.has_around(), method.is_async()) {
        (false, _) => "Carried",
        (true, true) => "Found",
        (true, false) => "FoundNow",
    });
    // At the method: what is not `Send` is shown there.
    respanned(rest, shown_at(method.sig.ident.span()))
}

// Input:  `pub async fn reply(&self, msg: &Msg) -> Msg`
// Output: `impl AsyncBody<AgentReplyArgs> for Agent { async fn body(&self, args: AgentReplyArgs) -> Msg { .. } }`
// Input:  `pub fn print(&self, text: &str)`
// Output: `impl AroundPoint<AgentPrintArgs> for Agent { fn start(&self, args: AgentPrintArgs) { .. } }`
/// How the call, and around hooks, run the body.
fn runnable_body(block: &Block, method: &Method) -> TokenStream {
    let cfgs = &method.cfgs;
    let Block { runtime, generics, self_ty, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let (args_ty, returned) = (args_type(method), return_type(block, method));
    let args = Ident::new("args", Span::mixed_site());
    let (point, start) = if method.is_async() {
        (runtime.public("AsyncBody"), async_body(block, method, &args))
    } else {
        let call = body_call(block, method, &args);
        let start = quote!(fn start(&self, #args: #args_ty) -> #returned { #call });
        (runtime.public("AroundPoint"), start)
    };
    quote! {
        #(#cfgs)*
        impl #impl_generics #point<#args_ty> for #self_ty #clause { #start }
    }
}

fn async_body(block: &Block, method: &Method, args: &Ident) -> TokenStream {
    let (args_ty, returned) = (args_type(method), return_type(block, method));
    let call = body_call(block, method, args);
    // At the method: a future that is not `Send` is shown there.
    let span = shown_at(method.sig.ident.span());
    let is_boxed = matches!(block.role, Role::Trait(_)) && method.refused.is_none();
    let future = quote! {
        impl ::core::future::Future<Output = #returned> + ::core::marker::Send
    };
    let sendable = block.runtime.private("sendable");
    let call_there = if method.is_borrowing() {
        quote_spanned!(span=> #sendable(async move { #call.await }))
    } else {
        let call = respanned(call.clone(), span);
        quote_spanned!(span=> #sendable(#call))
    };
    let body = quote!(fn body(&self, #args: #args_ty) -> #future { #call_there });
    if !is_boxed {
        return body;
    }
    let boxed = block.runtime.public("BoxFuture");
    let call = if method.is_borrowing() {
        let pin = block.runtime.private("boxed");
        quote!(#pin(async move { #call.await }))
    } else {
        call
    };
    quote! {
        #body
        fn boxed_body(&self, #args: #args_ty) -> #boxed<'_, #returned> { #call }
    }
}

// Output: `self.__hooks_reply(&args.msg)`
fn body_call(block: &Block, method: &Method, args: &Ident) -> TokenStream {
    if method.refused.is_some() {
        let (boxed, returned) = (block.runtime.private("refused"), return_type(block, method));
        let call = quote!(#boxed::<#returned>(#args));
        return if method.is_async() { quote!(async move { #call }) } else { call };
    }
    let (body, unpacked) = (method.body_ident.clone(), unpacked(block, method, args));
    let call = quote!(self.#body(#unpacked));
    if method.is_unsafe() { quote!(unsafe { #call }) } else { call }
}

// Input:  `trait Agent { fn reply(&self); fn observe(&self); }`
// Output: `&[HookedMethod::new("reply", true, true), HookedMethod::new("observe", true, true)]`
pub(crate) fn methods(block: &Block) -> TokenStream {
    let hooked_method = block.runtime.private("HookedMethod");
    let methods = block.methods().map(|method| {
        let (cfgs, name) = (&method.cfgs, &method.name);
        let (around, error) = (method.has_around(), method.is_fallible);
        quote!(#(#cfgs)* #hooked_method::new(#name, #around, #error))
    });
    quote!(&[#(#methods),*])
}

// Input:  `impl Agent { fn reply(&self); fn observe(&self); }`
// Output: `inventory::submit! { HookedMethods { methods: &["reply", "observe"], .. } }`
pub(crate) fn hooked_methods(
    block: &Block,
    base: Option<&TokenStream>,
    methods: &TokenStream,
) -> TokenStream {
    let Block { runtime, generics, self_ty, ident, .. } = block;
    let option = runtime.private("Option");
    let type_id = runtime.private("type_id");
    let agent = if generics.params.is_empty() {
        quote!(#option::Some(#type_id::<#self_ty>))
    } else {
        quote!(#option::None)
    };
    let base = match base {
        Some(base) => quote!(#option::Some(#type_id::<#base>)),
        None => quote!(#option::None),
    };
    let ident = ident.unraw().to_string();
    let inventory = runtime.private("inventory");
    let hooked_methods = runtime.private("HookedMethods");
    quote! {
        #inventory::submit! {
            #hooked_methods {
                agent: #agent,
                base: #base,
                module: ::core::module_path!(),
                line: ::core::line!(),
                ident: #ident,
                methods: #methods,
            }
        }
    }
}
