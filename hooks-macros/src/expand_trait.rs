//! Tokens: what a trait becomes. Nothing here can fail.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{
    FnArg, GenericArgument, Lifetime, PathArguments, PathSegment, Receiver, ReturnType, Signature,
    Type, TypeParamBound, TypeTraitObject, parse_quote,
};

use crate::model::{Block, Head, Item, Method};
use crate::parse::is_inner;
use crate::parts::{
    args_struct, args_type, arguments, body_ident, constants, hook_point, hooked_methods, methods,
    name_params, unused,
};
use crate::returned::Form;

// Input:  `pub trait Agent: Hookable { async fn reply(&self, msg: Msg) -> Msg; }`
// Output: the trait with a boxed method and its body, then per method the call that the methods of
//         all implementors make, an args struct, and a hook point of `dyn Agent`
pub(crate) fn item(block: &Block, head: &Head) -> TokenStream {
    let Block { runtime, attrs, ident, self_ty, items, .. } = block;
    let Head { vis, token, where_clause, .. } = head;
    let (inner, outer) = attrs.iter().partition::<Vec<_>, _>(|attr| is_inner(attr));
    let supertraits = supertraits(block, head);
    let items = items.iter().map(|item| match item {
        Item::Plain(item) => item.clone(),
        Item::Hooked(method) => declarations(block, method),
    });
    let constants = block.methods().map(|method| constants(block, method, vis, &args_type(method)));
    let calls = block.methods().map(|method| call(block, head, method));
    let structs = block.methods().map(|method| args_struct(block, method, vis));
    let points = block.methods().map(|method| {
        let (point, name) = (hook_point(block, method), trait_method(block, method));
        quote!(#point #name)
    });
    let (methods, hooked_method) = (methods(block), runtime.private("HookedMethod"));
    let known = hooked_methods(block, None, &quote!(<#self_ty>::__HOOKS_METHODS));
    let (unused, mark) = (unused(), mark());
    quote! {
        #(#outer)*
        #vis #token #ident: #supertraits #where_clause {
            #(#inner)*
            #(#items)*
            #[doc(hidden)]
            fn #mark() where Self: ::core::marker::Sized;
        }
        #unused
        impl #self_ty {
            #(#constants)*
            #[doc(hidden)]
            pub const __HOOKS_METHODS: &'static [#hooked_method] = #methods;
            #(#calls)*
        }
        #(#structs)*
        #(#points)*
        #known
    }
}

// Input:  `Hookable + Debug`
// Output: `HasHooks + Debug + Send + Sync`
/// What every implementor has: hooks, which other threads may see.
fn supertraits(block: &Block, head: &Head) -> TokenStream {
    let written = head.supertraits.iter().filter(|bound| !is_hookable(bound));
    let has_hooks = block.runtime.public("HasHooks");
    quote!(#has_hooks #(+ #written)* + ::core::marker::Send + ::core::marker::Sync)
}

/// Whether a supertrait is `Hookable`, which would make `dyn Trait` impossible.
fn is_hookable(bound: &TypeParamBound) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|last| last.ident == "Hookable")
        }
        _ => false,
    }
}

// Input:  `/// Docs. async fn reply(&self, msg: Msg) -> Msg;`
// Output: `/// Docs. fn reply<'hook>(&'hook self, msg: Msg) -> BoxFuture<'hook, Msg>;`, and the same
//         for its body
fn declarations(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, public_attrs, .. } = method;
    let sig = signature(block, method);
    let body = Signature { ident: body_ident(method), ..sig.clone() };
    quote! {
        #(#cfgs)* #(#public_attrs)*
        #sig;
        #(#cfgs)* #[doc(hidden)]
        #body;
    }
}

// Input:  `async fn observe(&self, msg: &Msg) -> Msg`
// Output: `fn observe<'hook>(&'hook self, msg: &'hook Msg) -> BoxFuture<'hook, Msg>`
/// The signature in a trait, also in an impl of it; that of a sync method is as it was written.
pub(crate) fn signature(block: &Block, method: &Method) -> Signature {
    let mut sig = method.sig.clone();
    name_params(&mut sig, method);
    if method.is_async() {
        // One that the method declares may be named in its body.
        let declared = sig.generics.lifetimes().next().map(|param| param.lifetime.clone());
        let hook = declared.unwrap_or_else(|| parse_quote!('hook));
        let (future, returned) = (block.runtime.public("BoxFuture"), &method.returned.ty);
        sig.asyncness = None;
        sig.generics = parse_quote!(<#hook>);
        match (&mut sig.output, method.returned.form) {
            // As it is written, so that what was imported for it is used.
            (ReturnType::Type(_, ty), Form::Boxed) => OneLifetime(&hook).visit_type_mut(ty),
            (output, _) => *output = parse_quote!(-> #future<#hook, #returned>),
        }
        for input in &mut sig.inputs {
            match input {
                FnArg::Receiver(receiver) => *receiver = shared(receiver, &hook),
                FnArg::Typed(param) => OneLifetime(&hook).visit_type_mut(&mut param.ty),
            }
        }
    }
    sig
}

fn shared(receiver: &Receiver, hook: &Lifetime) -> Receiver {
    let this = receiver.self_token;
    parse_quote!(&#hook #this)
}

// Input:  `async fn reply(&self, msg: Msg) -> Msg`
// Output: `fn __hooks_call_reply<'hook, A>(agent: &'hook A, msg: Msg) -> BoxFuture<'hook, Msg> { .. }`
/// The call of the method, for every implementor.
fn call(block: &Block, head: &Head, method: &Method) -> TokenStream {
    let Block { runtime, ident, self_ty, .. } = block;
    let Method { cfgs, params, args_ident, .. } = method;
    let args_ty = args_type(method);
    let sig = signature(block, method);
    let (name, body) = (call_ident(method), body_ident(method));
    let agent = Ident::new("agent", Span::mixed_site());
    let this = Ident::new("this", Span::mixed_site());
    let args = Ident::new("args", Span::mixed_site());
    let inputs = sig.inputs.iter().skip(1);
    let (lifetimes, output) = (sig.generics.params.iter(), &sig.output);
    let lifetime = sig.generics.lifetimes().next().map(|param| &param.lifetime);
    let lifetime = lifetime.filter(|_| method.is_async());
    let arguments = arguments(method);
    let packed = params.iter().map(|param| param.pack(runtime));
    let unpacked = params.iter().map(|param| param.unpack(&args, runtime));
    let direct = quote!(#agent.#body(#arguments));
    let hooked = quote!(#this.#body(#(#unpacked),*));
    let is_unhooked = runtime.private("is_unhooked");
    let pack = quote!(let #args = #args_ident { #(#packed),* };);
    let steps = if method.is_async() {
        let (run, boxed) = (runtime.private("run"), runtime.private("Box"));
        let hooked =
            if method.is_borrowing() { quote!(async move { #hooked.await }) } else { hooked };
        quote! {
            if #is_unhooked::<__HooksAgent, #args_ty>(#agent) {
                return #direct;
            }
            #boxed::pin(async move {
                #pack
                #run(#agent, #args, |#this, #args| #hooked).await
            })
        }
    } else {
        let run = runtime.private("run_sync");
        quote! {
            if #is_unhooked::<__HooksAgent, #args_ty>(#agent) {
                return #direct;
            }
            #pack
            #run(#agent, #args, |#this, #args| #hooked)
        }
    };
    // It says nothing new here, but what was imported for it is used.
    let hookable = head.supertraits.iter().filter(|bound| is_hookable(bound));
    let around_point = runtime.public("AroundPoint");
    let kind = runtime.private(if method.is_fallible { "Fallible" } else { "Infallible" });
    let mode = runtime.private(if method.is_async() { "Async" } else { "Sync" });
    let returned = &method.returned.ty;
    quote! {
        #(#cfgs)* #[doc(hidden)]
        pub fn #name<#(#lifetimes,)* __HooksAgent>(#agent: &#lifetime __HooksAgent, #(#inputs),*) #output
        where
            __HooksAgent: #ident #(+ #hookable)* + #around_point<
                #args_ty,
                Return = #returned,
                Kind = #kind,
                Mode = #mode,
                Base = #self_ty,
            >,
        {
            #steps
        }
    }
}

// Input:  `async fn reply(&self, msg: Msg)`
// Output: `impl<Type> TraitMethod<{ method("reply") }, Type> for dyn Agent { type Args = AgentReplyArgs; }`
/// How implementors, perhaps of other crates, find the args struct.
fn trait_method(block: &Block, method: &Method) -> TokenStream {
    let Block { runtime, self_ty, .. } = block;
    let (cfgs, name, args_ty) = (&method.cfgs, method.name(), args_type(method));
    let (trait_method, id) = (runtime.private("TraitMethod"), runtime.private("method"));
    quote! {
        #(#cfgs)*
        impl<__HooksType: ?::core::marker::Sized> #trait_method<{ #id(#name) }, __HooksType> for #self_ty {
            type Args = #args_ty;
        }
    }
}

/// What an impl lacks that is not marked: the compiler says its name.
pub(crate) fn mark() -> Ident {
    Ident::new("__hooks_mark_this_impl_with_hookable", Span::mixed_site())
}

/// The call that the methods of all implementors make.
pub(crate) fn call_ident(method: &Method) -> Ident {
    format_ident!("__hooks_call_{}", method.name(), span = method.sig.ident.span())
}

/// Makes every borrow last as long as the call; what function types borrow is their own.
struct OneLifetime<'a>(&'a Lifetime);

impl VisitMut for OneLifetime<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::FnPtr(_) => {}
            Type::Reference(reference) => {
                let is_static =
                    reference.lifetime.as_ref().is_some_and(|name| name.ident == "static");
                if !is_static {
                    reference.lifetime = Some(self.0.clone());
                }
                self.visit_type_mut(&mut reference.elem);
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        _: &mut syn::ParenthesizedGenericArguments,
    ) {
    }

    fn visit_type_trait_object_mut(&mut self, object: &mut TypeTraitObject) {
        let is_trait = |bound: &TypeParamBound| !matches!(bound, TypeParamBound::Lifetime(_));
        object.bounds = object.bounds.iter().filter(|bound| is_trait(bound)).cloned().collect();
        object.bounds.push(TypeParamBound::Lifetime(self.0.clone()));
    }

    fn visit_path_segment_mut(&mut self, segment: &mut PathSegment) {
        syn::visit_mut::visit_path_segment_mut(self, segment);
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            let is_lifetime =
                |argument: &GenericArgument| matches!(argument, GenericArgument::Lifetime(_));
            if segment.ident == "Cow" && !arguments.args.iter().any(is_lifetime) {
                arguments.args.insert(0, GenericArgument::Lifetime(self.0.clone()));
            }
        }
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        match argument {
            GenericArgument::Lifetime(lifetime) if lifetime.ident != "static" => {
                *lifetime = self.0.clone();
            }
            _ => syn::visit_mut::visit_generic_argument_mut(self, argument),
        }
    }
}
