//! Tokens: what a block becomes. Nothing here can fail.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{FnArg, Pat, PatIdent};

use crate::attrs::{Reentry, is_lint_level};
use crate::model::{Block, Item, Method, Receiver};
use crate::parse::is_inner;

// Input:  `impl Agent { pub async fn reply(&self, msg: Msg) -> Msg { .. } }`
// Output: the impl block, then per method an args struct and a hook point
pub(crate) fn block(block: &Block) -> TokenStream {
    let Block { attrs, generics, self_ty, items, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let items = items.iter().map(|item| match item {
        Item::Plain(item) => item.clone(),
        Item::Hooked(method) => wrapper(block, method),
    });
    let constants = block.methods().map(|method| constants(block, method));
    let bodies = block.methods().map(body);
    let structs = block.methods().map(|method| args_struct(block, method));
    let points = block.methods().map(|method| hook_point(block, method));
    let methods = hooked_methods(block);
    let (inner, outer) = attrs.iter().partition::<Vec<_>, _>(|attr| is_inner(attr));
    let lints = attrs.iter().filter(|attr| is_lint_level(attr));
    let (lints_inner, lints_outer) = lints.partition::<Vec<_>, _>(|attr| is_inner(attr));
    let (unused, private) = (unused(), private());
    quote! {
        #(#outer)*
        impl #impl_generics #self_ty #clause { #(#inner)* #(#items)* }
        #unused
        impl #impl_generics #self_ty #clause { #(#constants)* }
        #private
        #(#lints_outer)*
        impl #impl_generics #self_ty #clause { #(#lints_inner)* #(#bodies)* }
        #(#structs)*
        #(#points)*
        #methods
    }
}

// Input:  `pub async fn reply(&self, msg: Msg)`
// Output: `pub const PRE_REPLY: ::hooks_core::Pre<Self, AgentReplyArgs> = ::hooks_core::Pre::new();`
fn constants(block: &Block, method: &Method) -> TokenStream {
    let Method { vis, cfgs, .. } = method;
    let args = args_type(method);
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
    let error = method.is_fallible.then(|| constant("ERROR", "OnError", "after a failure of"));
    let settled = constant("SETTLED", "OnSettled", "at the very end of");
    quote!(#pre #around #post #error #settled)
}

// Input:  `pub async fn reply(&self, msg: Msg) -> Msg { .. }`
// Output: `pub async fn reply(&self, msg: Msg) -> Msg { if skips_hooks(self) { .. } .. run(..).await }`
fn wrapper(block: &Block, method: &Method) -> TokenStream {
    let Method { vis, cfgs, public_attrs, params, .. } = method;
    let runtime = &block.runtime;
    let args_ty = args_type(method);
    let args_ident = &method.args_ident;
    let body = body_ident(method);
    let this = Ident::new("this", Span::mixed_site());
    let args = Ident::new("args", Span::mixed_site());

    let mut sig = method.sig.clone();
    let receiver = sig.receiver().map(|receiver| receiver.self_token);
    let typed = sig.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(param) => Some(param),
        FnArg::Receiver(_) => None,
    });
    for (input, param) in typed.zip(params) {
        let name = &param.name;
        input.attrs.retain(|attr| !attr.path().is_ident("arg"));
        *input.pat = named(name);
    }

    let names = params.iter().map(|param| {
        let (attrs, name) = (&param.attrs, &param.name);
        let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        quote!(#(#cfgs)* #name)
    });
    let packed = params.iter().map(|param| param.pack(runtime));
    let unpacked = params.iter().map(|param| param.unpack(&args, runtime));
    let wait = method.is_async().then(|| quote!(.await));
    let guarded = |call: TokenStream| {
        if method.is_unsafe() { quote!(unsafe { #call }) } else { call }
    };
    let direct = guarded(quote!(#receiver.#body(#(#names),*)#wait));
    let hooked = guarded(quote!(#this.#body(#(#unpacked),*)));
    let borrows = method.is_async() && method.is_borrowing();
    let hooked = if borrows { quote!(async move { #hooked.await }) } else { hooked };
    let (share, lend) = (runtime.private("Share"), runtime.private("Lend"));
    let call = |run: &str, lender: TokenStream, this: TokenStream| {
        let run = runtime.private(run);
        quote!(#run(#lender, #args, |#this, #args| #hooked) #wait)
    };
    let call = match (method.is_async(), method.receiver) {
        (true, Receiver::Shared) if method.is_local => {
            call("run_alone", quote!(#share(#receiver)), quote!(#this))
        }
        (true, Receiver::Shared) => call("run", quote!(#receiver), quote!(#this)),
        (false, Receiver::Shared) => call("run_sync", quote!(#receiver), quote!(#this)),
        (is_async, Receiver::Exclusive) => {
            let run = if is_async { "run_alone" } else { "run_sync_alone" };
            let call = call(run, quote!(&#this), quote!(mut #this));
            quote!(let #this = #lend::new(#receiver); #call)
        }
    };
    let skips_hooks = runtime.private("skips_hooks");
    quote! {
        #(#cfgs)* #(#public_attrs)*
        #vis #sig {
            if #skips_hooks::<Self, #args_ty>(#receiver) {
                return #direct;
            }
            let #args = #args_ident { #(#packed),* };
            #call
        }
    }
}

// Input:  `/// Docs. pub async fn reply(&self, msg: Msg) -> Msg { .. }`
// Output: `async fn __hooks_reply(&self, msg: Msg) -> Msg { .. }`
fn body(method: &Method) -> TokenStream {
    let Method { cfgs, body_attrs, body, params, .. } = method;
    let mut sig = method.sig.clone();
    sig.ident = body_ident(method);
    let typed = sig.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(param) => Some(param),
        FnArg::Receiver(_) => None,
    });
    for (input, param) in typed.zip(params) {
        input.attrs.clone_from(&param.attrs);
        *input.pat = param.pattern.clone();
    }
    quote!(#(#cfgs)* #(#body_attrs)* #sig #body)
}

// Input:  `pub async fn reply(&self, msg: Msg, style: Option<&str>) -> Msg`
// Output: `#[derive(Debug, Clone)] pub struct AgentReplyArgs { pub msg: Msg, pub style: Option<String> }`
fn args_struct(block: &Block, method: &Method) -> TokenStream {
    let Method { vis, cfgs, body_attrs, args_ident, args_generics, params, .. } = method;
    let (generics, _, clause) = args_generics.split_for_impl();
    let derives = &block.derives;
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
        #unused
        #(#lints)*
        #vis struct #args_ident #generics #clause { #(#fields),* }
    }
}

// Input:  `pub async fn reply(&self, msg: Msg) -> Result<Msg, Error>`
// Output: `impl ::hooks_core::HookPoint<AgentReplyArgs> for Agent { type Return = ..; .. }`
fn hook_point(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, returned, index, .. } = method;
    let Block { runtime, generics, self_ty, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let args = args_type(method);
    let name = method.name();
    let hook_point = runtime.public("HookPoint");
    let kind = runtime.private(if method.is_fallible { "Fallible" } else { "Infallible" });
    // At the return type: an error that cannot carry a hook's failure is shown there.
    let kind = respanned(kind, returned.span());
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
    quote! {
        #around_point
        #(#cfgs)*
        impl #impl_generics #hook_point<#args> for #self_ty #clause {
            type Return = #returned;
            type Kind = #kind;
            type Mode = #mode;
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
    let call = if method.is_async() { quote!(#call.await) } else { call };
    let call = if method.is_unsafe() { quote!(unsafe { #call }) } else { call };
    // At the method: a future that is not `Send` is shown there.
    let span = method.sig.ident.span();
    let (running, start) = if method.is_async() {
        let running = runtime.public("BoxFuture");
        let boxed = respanned(runtime.private("Box"), span);
        (
            quote!(#running<'_, Self::Return>),
            quote_spanned!(span=> #boxed::pin(async move { #call })),
        )
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

// Input:  `impl Agent { fn reply(&self); fn observe(&self); }`
// Output: `inventory::submit! { HookedMethods { methods: &["reply", "observe"], .. } }`
fn hooked_methods(block: &Block) -> TokenStream {
    let Block { runtime, generics, self_ty, ident, .. } = block;
    let option = runtime.private("Option");
    let agent = if generics.params.is_empty() {
        let type_id = runtime.private("type_id");
        quote!(#option::Some(#type_id::<#self_ty>))
    } else {
        quote!(#option::None)
    };
    let ident = ident.unraw().to_string();
    let hooked_method = runtime.private("HookedMethod");
    let methods = block.methods().map(|method| {
        let (cfgs, name) = (&method.cfgs, method.name());
        let (around, error) = (method.has_around(), method.is_fallible);
        quote!(#(#cfgs)* #hooked_method { name: #name, around: #around, error: #error })
    });
    let inventory = runtime.private("inventory");
    let hooked_methods = runtime.private("HookedMethods");
    quote! {
        #inventory::submit! {
            #hooked_methods {
                agent: #agent,
                module: ::core::module_path!(),
                ident: #ident,
                methods: &[#(#methods),*],
            }
        }
    }
}

/// The same tokens, so that what is wrong with them is shown elsewhere.
fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.into_iter().map(respan).collect()
}

/// What is there for hooks may go unused, since not every point has one, and repeats types that the
/// method answers for.
fn unused() -> TokenStream {
    quote!(#[allow(dead_code, private_interfaces)])
}

/// The bodies are private, so they are told what public methods are not: those have the signatures
/// that their callers want.
fn private() -> TokenStream {
    quote! {
        #[allow(
            non_snake_case, clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref,
            clippy::unnecessary_wraps, clippy::unused_async, clippy::unused_self
        )]
    }
}

/// The args struct with its generics.
fn args_type(method: &Method) -> TokenStream {
    let ident = &method.args_ident;
    let (_, generics, _) = method.args_generics.split_for_impl();
    quote!(#ident #generics)
}

fn body_ident(method: &Method) -> Ident {
    format_ident!("__hooks_{}", method.name(), span = method.sig.ident.span())
}

/// The pattern that is just a name.
fn named(name: &Ident) -> Pat {
    let ident = name.clone();
    Pat::Ident(PatIdent { attrs: Vec::new(), by_ref: None, mutability: None, ident, subpat: None })
}
