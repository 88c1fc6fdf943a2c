//! Tokens that blocks and traits have in common. Nothing here can fail.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{FnArg, Pat, PatIdent, PatType, Signature, Visibility};

use crate::attrs::{Reentry, is_lint_level};
use crate::model::{Block, Method, Role};

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
        let doc = format!(" Hooks {doc} `{}`.", method.name());
        let name = method.name().to_uppercase();
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

// Input:  `pub async fn reply(&self, msg: Msg, style: Option<&str>) -> Msg`
// Output: `#[derive(Debug, Clone)] pub struct AgentReplyArgs { pub msg: Msg, pub style: Option<String> }`
pub(crate) fn args_struct(block: &Block, method: &Method, vis: &Visibility) -> TokenStream {
    let Method { cfgs, body_attrs, args_ident, args_generics, params, .. } = method;
    let (generics, _, clause) = args_generics.split_for_impl();
    let derives = &block.derives;
    let json = block.is_json.then(|| json_derives(block));
    let unused = unused();
    let lints = body_attrs.iter().filter(|attr| is_lint_level(attr));
    let doc = format!(" The arguments of [`{}::{}`].", block.ident, method.name());
    let fields = params.iter().map(|param| {
        let (attrs, name, ty) = (&param.attrs, &param.name, &param.field_ty);
        let doc = format!(" The argument `{name}`.");
        quote!(#(#attrs)* #[doc = #doc] #vis #name: #ty)
    });
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #[derive(#(#derives),*)]
        #json
        #unused
        #(#lints)*
        #vis struct #args_ident #generics #clause { #(#fields),* }
    }
}

/// What JSON needs of an args struct, unless it is derived already. Found here, so that the crate need not
/// know of it.
fn json_derives(block: &Block) -> TokenStream {
    let is_derived = |name: &str| {
        block.derives.iter().any(|path| path.segments.last().is_some_and(|it| it.ident == name))
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

// Input:  `pub async fn reply(&self, msg: Msg) -> Result<Msg, Error>`
// Output: `impl ::hooks_core::HookPoint<AgentReplyArgs> for Agent { type Return = ..; .. }`
pub(crate) fn hook_point(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, index, .. } = method;
    let returned = return_type(block, method);
    let Block { runtime, generics, self_ty, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let args = args_type(method);
    let name = method.name();
    let hook_point = runtime.public("HookPoint");
    let kind = runtime.private(if method.is_fallible { "Fallible" } else { "Infallible" });
    // At the return type: an error that cannot carry a hook's failure is shown there.
    let kind = respanned(kind, method.returned.ty.span());
    let mode = runtime.private(if method.is_async() { "Async" } else { "Sync" });
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
    let around_point = method.has_around().then(|| around_point(block, method));
    // Of a generic type there is no one point that the linker could know.
    let json = (block.is_json && generics.params.is_empty()).then(|| {
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
            const METHOD: &'static str = #name;
            const INDEX: u32 = #index;
            #reentry
            type Base = Self;
            fn class() -> &'static #class_hooks {
                static CLASS: #class_hooks = #class_hooks::new();
                &CLASS
            }
        }
    }
}

// Input:  `pub async fn reply(&self, msg: Msg) -> Result<Msg, Error>`
// Output: `impl ::hooks_core::AroundPoint<AgentReplyArgs> for Agent { fn start(..) { .. } }`
fn around_point(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, params, .. } = method;
    let Block { runtime, generics, self_ty, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let args_ty = args_type(method);
    let args = Ident::new("args", Span::mixed_site());
    let body = body_ident(method);
    let unpacked = params.iter().map(|param| param.unpack(&args, runtime));
    let call = quote!(self.#body(#(#unpacked),*));
    let call = if method.is_unsafe() { quote!(unsafe { #call }) } else { call };
    // At the method: a future that is not `Send` is shown there.
    let span = method.sig.ident.span();
    let (running, start) = if method.is_async() {
        let running = runtime.public("BoxFuture");
        let boxed = respanned(runtime.private("Box"), span);
        let start = match (&block.role, method.is_borrowing()) {
            (Role::Trait(_), false) => call,
            (Role::Trait(_), true) => quote!(#boxed::pin(async move { #call.await })),
            (_, false) => quote_spanned!(span=> #boxed::pin(#call)),
            (_, true) => {
                let with = with_ident(method);
                quote_spanned!(span=> #boxed::pin(self.#with(#args)))
            }
        };
        (quote!(#running<'_, Self::Return>), start)
    } else {
        (quote!(Self::Return), call)
    };
    let around_point = runtime.public("AroundPoint");
    quote! {
        #(#cfgs)*
        impl #impl_generics #around_point<#args_ty> for #self_ty #clause {
            fn start(&self, #args: #args_ty) -> #running {
                #start
            }
        }
    }
}

// Input:  `trait Agent { fn reply(&self); fn observe(&self); }`
// Output: `&[HookedMethod::new("reply", true, true), HookedMethod::new("observe", true, true)]`
pub(crate) fn methods(block: &Block) -> TokenStream {
    let hooked_method = block.runtime.private("HookedMethod");
    let methods = block.methods().map(|method| {
        let (cfgs, name) = (&method.cfgs, method.name());
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
                ident: #ident,
                methods: #methods,
            }
        }
    }
}

/// What the method returns, or what the output of its future is: a type that has values where `!`
/// has none may be named anywhere.
pub(crate) fn return_type(block: &Block, method: &Method) -> TokenStream {
    if method.returned.is_never() {
        block.runtime.private("Never")
    } else {
        method.returned.ty.to_token_stream()
    }
}

/// The same tokens, so that what is wrong with them is shown elsewhere.
pub(crate) fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.into_iter().map(respan).collect()
}

/// What is there for hooks may go unused, since not every point has one, and repeats types that the
/// method answers for.
pub(crate) fn unused() -> TokenStream {
    quote!(#[allow(dead_code, private_interfaces)])
}

/// The bodies are private, so they are told what public methods are not: those have the signatures
/// that their callers want.
pub(crate) fn private() -> TokenStream {
    quote! {
        #[allow(
            non_snake_case, unused_braces, clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref,
            clippy::no_effect_underscore_binding, clippy::unnecessary_wraps, clippy::unused_async,
            clippy::unused_self, clippy::used_underscore_binding
        )]
    }
}

/// The args struct with its generics.
pub(crate) fn args_type(method: &Method) -> TokenStream {
    let ident = &method.args_ident;
    let (_, generics, _) = method.args_generics.split_for_impl();
    quote!(#ident #generics)
}

pub(crate) fn body_ident(method: &Method) -> Ident {
    format_ident!("__hooks_{}", method.name(), span = method.sig.ident.span())
}

/// The body of an async method that borrows, given its args struct.
pub(crate) fn with_ident(method: &Method) -> Ident {
    format_ident!("__hooks_{}_with", method.name(), span = method.sig.ident.span())
}

/// The pattern that is just a name.
pub(crate) fn named(name: &Ident) -> Pat {
    let ident = name.clone();
    Pat::Ident(PatIdent { attrs: Vec::new(), by_ref: None, mutability: None, ident, subpat: None })
}

/// The parameters of a method without its receiver.
pub(crate) fn typed(sig: &mut Signature) -> impl Iterator<Item = &mut PatType> {
    sig.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(param) => Some(param),
        FnArg::Receiver(_) => None,
    })
}

/// Gives the parameters the names of their fields.
pub(crate) fn name_params(sig: &mut Signature, method: &Method) {
    for (input, param) in typed(sig).zip(&method.params) {
        input.attrs.retain(|attr| !attr.path().is_ident("arg"));
        *input.pat = named(&param.name);
    }
}

/// The parameters as arguments.
pub(crate) fn arguments(method: &Method) -> TokenStream {
    let names = method.params.iter().map(|param| {
        let (attrs, name) = (&param.attrs, &param.name);
        let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        quote!(#(#cfgs)* #name)
    });
    quote!(#(#names),*)
}
