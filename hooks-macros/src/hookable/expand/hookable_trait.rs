//! A trait.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{
    FnArg, GenericArgument, Lifetime, PathArguments, PathSegment, Receiver, ReturnType, Signature,
    TraitBound, Type, TypeParamBound, TypeTraitObject, parse_quote,
};

use crate::hookable::expand::args_struct::args_struct;
use crate::hookable::expand::body::method_body;
use crate::hookable::expand::hook_point::{
    constants, heading, hook_point, hooked_methods, methods,
};
use crate::hookable::expand::lints::{private, underscores, unused};
use crate::hookable::expand::names::{args_type, arguments, name_params, packing};
use crate::hookable::model::{Block, Head, Item, Method};
use crate::hookable::parse::is_inner;
use crate::hookable::signature::returned::Form;

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
    let called = block.methods().filter(|method| !method.is_never_dyn());
    let calls = called.map(|method| call(block, head, method));
    let structs = block.methods().map(|method| args_struct(block, method, vis));
    let points = block.methods().map(|method| {
        let (point, name) = (hook_point(block, method), trait_method(block, method));
        quote!(#point #name)
    });
    let (methods, hooked_method) = (methods(block), runtime.private("HookedMethod"));
    let known = hooked_methods(block, None, &quote!(<#self_ty>::__HOOKS_METHODS));
    let (unused, mark, heading) = (unused(), mark(), heading(block));
    let as_dyn = as_dyn(self_ty);
    quote! {
        #(#outer)*
        #vis #token #ident: #supertraits #where_clause {
            #(#inner)*
            #[doc(hidden)]
            fn #mark #as_dyn;
            #(#items)*
        }
        #heading
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
/// A method with a body runs, in types that leave it as it is, the hooks of the trait.
fn declarations(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, public_attrs, body_attrs, .. } = method;
    let self_ty = &block.self_ty;
    if method.is_never_dyn() {
        let (mut sig, body) = (method.sig.clone(), &method.body);
        let clause = sig.generics.make_where_clause();
        clause.predicates.push(parse_quote!(Self: ::core::marker::Sized));
        let end = body.is_none().then(|| quote!(;));
        return quote!(#(#cfgs)* #(#public_attrs)* #sig #body #end);
    }
    let sig = signature(block, method);
    let body_sig = Signature { ident: method.body_ident.clone(), ..sig.clone() };
    let (call, body) = match &method.body {
        // An impl that is not marked has no body, and is refused by name.
        None => {
            let (refused, arguments) = (block.runtime.private("refused"), arguments(method));
            (quote!(;), quote!({ #refused((self, #arguments)) }))
        }
        Some(body) => {
            let (call, arguments) = (call_ident(method), arguments(method));
            let receiver = sig.receiver().map(|receiver| receiver.self_token);
            let (mark, body) = (mark(), method_body(block, method, body));
            (quote!({ <#self_ty>::#call(#receiver.#mark(), #arguments) }), quote!({ #body }))
        }
    };
    let lints = match &method.body {
        Some(_) => Some(private()),
        None => underscores(method),
    };
    let underscores = method.body.as_ref().and_then(|_| underscores(method));
    quote! {
        #(#cfgs)* #(#public_attrs)* #underscores
        #sig #call
        #(#cfgs)* #[doc(hidden)] #(#body_attrs)* #lints
        #body_sig #body
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
            (ReturnType::Type(_, ty), Form::Boxed) => {
                OneLifetime(&hook).visit_type_mut(ty);
                Tied(&hook).visit_type_mut(ty);
            }
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
    let cfgs = &method.cfgs;
    let args_ty = args_type(method);
    let sig = signature(block, method);
    let name = call_ident(method);
    let agent = Ident::new("agent", Span::mixed_site());
    let inputs = sig.inputs.iter().skip(1);
    let (lifetimes, output) = (sig.generics.params.iter(), &sig.output);
    let lifetime = sig.generics.lifetimes().next().map(|param| &param.lifetime);
    let lifetime = lifetime.filter(|_| method.is_async());
    let steps = call_steps(block, method, &agent);
    let lints = underscores(method);
    // It says nothing new here, but what was imported for it is used.
    let hookable = head.supertraits.iter().filter(|bound| is_hookable(bound));
    let around_point = runtime.public(if method.is_async() { "AsyncBody" } else { "AroundPoint" });
    let kind =
        runtime.private(if method.is_fallible { "FallibleMethod" } else { "InfallibleMethod" });
    let mode = runtime.private("SyncMethod");
    let mode = (!method.is_async()).then(|| quote!(Mode = #mode,));
    let returned = &method.returned.ty;
    quote! {
        #(#cfgs)* #[doc(hidden)] #lints
        pub fn #name<#(#lifetimes,)* __HooksAgent>(#agent: &#lifetime __HooksAgent, #(#inputs),*) #output
        where
            __HooksAgent: ?::core::marker::Sized + #ident #(+ #hookable)* + #around_point<
                #args_ty,
                Return = #returned,
                Kind = #kind,
                #mode
                Base = #self_ty,
            >,
        {
            #steps
        }
    }
}

// Output: `if is_unhooked(agent) { return agent.__hooks_reply(msg); } Box::pin(async move { .. })`
fn call_steps(block: &Block, method: &Method, agent: &Ident) -> TokenStream {
    if method.refused.is_some() {
        // Its arguments go nowhere.
        let (refused, arguments) = (block.runtime.private("refused"), arguments(method));
        return quote!(#refused((#agent, #arguments)));
    }
    let runtime = &block.runtime;
    let args = Ident::new("args", Span::mixed_site());
    let (body, args_ty) = (method.body_ident.clone(), args_type(method));
    let arguments = arguments(method);
    let is_unhooked = runtime.private("is_unhooked");
    let pack = packing(block, method, &args);
    let rest = if method.is_async() {
        let (run, boxed) = (runtime.private("run"), runtime.private("Box"));
        quote! {
            #boxed::pin(async move {
                #pack
                #run(#agent, #args).await
            })
        }
    } else {
        let run = runtime.private("run_sync");
        quote!(#pack #run(#agent, #args))
    };
    quote! {
        if #is_unhooked::<__HooksAgent, #args_ty>(#agent) {
            return #agent.#body(#arguments);
        }
        #rest
    }
}

// Input:  `async fn reply(&self, msg: Msg)`
// Output: `impl<Type> TraitMethod<{ method("reply") }, Type> for dyn Agent { type Args = AgentReplyArgs; }`
/// How implementors, perhaps of other crates, find the args struct.
fn trait_method(block: &Block, method: &Method) -> TokenStream {
    let Block { runtime, self_ty, .. } = block;
    let (cfgs, name, args_ty) = (&method.cfgs, &method.name, args_type(method));
    let (trait_method, id) = (runtime.private("TraitMethod"), runtime.private("method"));
    quote! {
        #(#cfgs)*
        impl<__HooksType: ?::core::marker::Sized> #trait_method<{ #id(#name) }, __HooksType> for #self_ty {
            type Args = #args_ty;
        }
    }
}

/// What an impl lacks that is not marked, and has too much if its trait is not: the compiler says its
/// name.
pub(crate) fn mark() -> Ident {
    Ident::new(
        "__hooks_hookable_trait_needs_hookable_impl_other_trait_needs_own",
        Span::mixed_site(),
    )
}

// Output: `(&self) -> &(dyn Agent + 'static)`
/// How a default body comes by the hooks of the trait.
pub(crate) fn as_dyn(base: &impl ToTokens) -> TokenStream {
    quote!((&self) -> &(#base + 'static))
}

/// The call that the methods of all implementors make.
pub(crate) fn call_ident(method: &Method) -> Ident {
    format_ident!("__hooks_call_{}", method.name, span = method.sig.ident.span())
}

/// Makes every borrow last as long as the call; what function types borrow is their own.
struct OneLifetime<'a>(&'a Lifetime);

impl VisitMut for OneLifetime<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::FnPtr(_) => {}
            Type::Reference(reference) => {
                reference.lifetime.get_or_insert_with(|| self.0.clone());
                syn::visit_mut::visit_type_reference_mut(self, reference);
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            *lifetime = self.0.clone();
        }
    }

    fn visit_trait_bound_mut(&mut self, bound: &mut TraitBound) {
        if bound.lifetimes.is_none() {
            syn::visit_mut::visit_trait_bound_mut(self, bound);
        }
    }

    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        _: &mut syn::ParenthesizedGenericArguments,
    ) {
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
}

/// Ties a boxed future that says nothing else to the call.
struct Tied<'a>(&'a Lifetime);

impl VisitMut for Tied<'_> {
    fn visit_type_trait_object_mut(&mut self, object: &mut TypeTraitObject) {
        let is_lifetime = |bound: &TypeParamBound| matches!(bound, TypeParamBound::Lifetime(_));
        if !object.bounds.iter().any(is_lifetime) {
            object.bounds.push(TypeParamBound::Lifetime(self.0.clone()));
        }
    }
}
