//! `#[agent_hook]`: methods that take one event each become an event hook.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{
    Error, Expr, FnArg, GenericParam, ImplItem, ImplItemFn, ItemImpl, LitStr, Pat, ReceiverKind,
    Type,
};

use crate::support::arguments::{parse_arguments, parse_crate, parse_value};
use crate::support::errors::Errors;
use crate::support::types::ungrouped;

/// The events, as types and as variants of `HookEvent`.
const EVENTS: [(&str, &str); 13] = [
    ("PreCall", "PreCall"),
    ("PostCall", "PostCall"),
    ("PreReasoning", "PreReasoning"),
    ("ReasoningChunk", "ReasoningChunk"),
    ("PostReasoning", "PostReasoning"),
    ("PreActing", "PreActing"),
    ("ActingChunk", "ActingChunk"),
    ("PostActing", "PostActing"),
    ("PreSummary", "PreSummary"),
    ("SummaryChunk", "SummaryChunk"),
    ("PostSummary", "PostSummary"),
    ("ErrorEvent", "Error"),
    ("Settled", "Settled"),
];

/// A method that takes an event.
struct Handler {
    name: Ident,
    variant: Ident,
    is_async: bool,
    /// Where its answer is written.
    answer: Span,
    cfgs: Vec<syn::Attribute>,
}

/// What the attribute says.
struct Options {
    krate: TokenStream,
    name: Option<LitStr>,
    priority: Option<Expr>,
    tools: Option<Expr>,
    inherit: bool,
}

// Input:  `#[agent_hook(priority = 10)] impl Guard { async fn deny(&self, event: &mut PreActing<'_>) .. }`
// Output: the block, and `impl AgentHook for Guard { .. }`
pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    let block: ItemImpl = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            let message = "`#[agent_hook]` goes on an impl block of the hook's type";
            let error = Error::new(error.span(), message).into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::default();
    let options = parse_options(attr, &mut errors);
    if let Some((path, _)) = &block.trait_ {
        errors.at(path, "`#[agent_hook]` goes on an impl block of the type alone, without a trait");
    }
    if let Some(GenericParam::Lifetime(lifetime)) =
        block.generics.params.iter().find(|param| matches!(param, GenericParam::Lifetime(_)))
    {
        errors.at(lifetime, "a hook outlives every call: its type has no lifetimes");
    }
    let handlers = handlers(&block, &mut errors);
    match errors.or(()) {
        Ok(()) => {
            let hook = hook_impl(&block, &options, &handlers);
            quote!(#block #hook)
        }
        Err(errors) => quote!(#block #errors),
    }
}

fn parse_options(attr: TokenStream, errors: &mut Errors) -> Options {
    let mut options = Options {
        krate: quote!(::hooks_agent),
        name: None,
        priority: None,
        tools: None,
        inherit: false,
    };
    let known = ["name", "priority", "tools", "inherit", "crate"];
    parse_arguments(attr, &known, errors, |argument, input: ParseStream<'_>| {
        match argument.text.as_str() {
            "name" => options.name = Some(parse_value(input)?),
            "priority" => options.priority = Some(parse_value(input)?),
            "tools" => options.tools = Some(parse_value(input)?),
            "inherit" => options.inherit = true,
            _ => {
                options.krate = parse_crate(input)?.into_token_stream();
            }
        }
        Ok(())
    });
    options
}

fn handlers(block: &ItemImpl, errors: &mut Errors) -> Vec<Handler> {
    let mut handlers: Vec<Handler> = Vec::new();
    for item in &block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some((event, variant)) = event_of(method) else { continue };
        check(method, event, errors);
        // Of two under conditions, one may be there at a time; the compiler sees if both are.
        let cfgs: Vec<_> =
            method.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect();
        let is_taken =
            |known: &Handler| known.variant == variant && cfgs.is_empty() && known.cfgs.is_empty();
        if handlers.iter().any(is_taken) {
            let message = format!("two methods take `{event}`, make one of them");
            errors.at(&method.sig.ident, message);
        }
        handlers.push(Handler {
            name: method.sig.ident.clone(),
            variant: format_ident!("{variant}"),
            is_async: method.sig.asyncness.is_some(),
            answer: method.sig.output.span(),
            cfgs,
        });
    }
    if handlers.is_empty() && block.trait_.is_none() {
        errors.at(
            &block.self_ty,
            "no method here takes an event: write one like \
             `async fn check(&self, event: &mut PreActing<'_>) -> HookResult<Flow>`",
        );
    }
    handlers
}

// Input:  `async fn deny(&self, event: &mut PreActing<'_>)`
// Output: `("PreActing", "PreActing")`; nothing for a method without an event
fn event_of(method: &ImplItemFn) -> Option<(&'static str, &'static str)> {
    method.sig.inputs.iter().find_map(|input| {
        let FnArg::Typed(param) = input else { return None };
        let Type::Path(path) = referent(&param.ty) else { return None };
        let name = &path.path.segments.last()?.ident;
        EVENTS.into_iter().find(|(event, _)| name == event)
    })
}

/// What a reference refers to; any other type as it is.
fn referent(ty: &Type) -> &Type {
    match ungrouped(ty) {
        Type::Reference(reference) => ungrouped(&reference.elem),
        other => other,
    }
}

fn check(method: &ImplItemFn, event: &str, errors: &mut Errors) {
    let signature = &method.sig;
    let form = format!("write `&self, event: &mut {event}<'_>`");
    let takes_self = signature
        .receiver()
        .is_some_and(|receiver| matches!(receiver.kind, ReceiverKind::Reference(_, _, None)));
    if !takes_self {
        errors.at(&signature.inputs, format!("a handler is called on the shared hook: {form}"));
    } else if signature.inputs.len() != 2 {
        errors.at(&signature.inputs, format!("a handler takes one event: {form}"));
    } else if let Some(FnArg::Typed(param)) = signature.inputs.last() {
        if !matches!(ungrouped(&param.ty), Type::Reference(_)) {
            errors.at(&param.ty, format!("a handler sees the event by reference: {form}"));
        } else if !matches!(*param.pat, Pat::Ident(_) | Pat::Wild(_)) {
            errors.at(&param.pat, "an event has no pattern, give it a name");
        }
    }
    if let Some(param) =
        signature.generics.params.iter().find(|param| !matches!(param, GenericParam::Lifetime(_)))
    {
        errors.at(param, "a handler cannot be generic");
    }
}

// Output: `impl AgentHook for Guard { fn events(&self) -> .. async fn on_event(..) .. }`
fn hook_impl(block: &ItemImpl, options: &Options, handlers: &[Handler]) -> TokenStream {
    let Options { krate, name, priority, tools, inherit } = options;
    let (impl_generics, _, where_clause) = block.generics.split_for_impl();
    let ty = &block.self_ty;
    let result = quote!(#krate::hooks_core::HookResult<#krate::Flow>);
    let name = name.as_ref().map(|name| {
        quote! {
            fn name(&self) -> #krate::hooks_core::__private::String {
                #krate::hooks_core::__private::ToOwned::to_owned(#name)
            }
        }
    });
    let priority =
        priority.as_ref().map(|priority| quote!(fn priority(&self) -> i32 { #priority }));
    let tools =
        tools.as_ref().map(|tools| quote!(fn tools(&self) -> #krate::Tools { (#tools)(self) }));
    let inherit = inherit.then(|| {
        quote!(
            fn inherit(&self) -> bool {
                true
            }
        )
    });
    let mask = |method: &str, chosen: &dyn Fn(&Handler) -> bool| {
        let method = format_ident!("{method}");
        let kinds = handlers.iter().filter(|handler| chosen(handler)).map(|handler| {
            let Handler { variant, cfgs, .. } = handler;
            quote!(#(#cfgs)* #krate::EventKind::#variant)
        });
        quote! {
            fn #method(&self) -> #krate::EventMask {
                const { #krate::EventMask::of(&[#(#kinds),*]) }
            }
        }
    };
    let events = mask("events", &|_| true);
    let sync_events = mask("sync_events", &|handler| !handler.is_async);
    let arms = |is_async: bool| {
        let wait = is_async.then(|| quote!(.await));
        let handlers = handlers.iter().filter(move |handler| handler.is_async == is_async);
        let arms = handlers.map(move |Handler { name, variant, answer, cfgs, .. }| {
            let call = quote!(Self::#name(self, event)#wait);
            // An answer that is none is shown where it is written.
            let shown = Ident::new("answer", answer.resolved_at(Span::mixed_site()));
            quote! {
                #(#cfgs)*
                #krate::HookEvent::#variant(event) => {
                    let #shown = #call;
                    #krate::IntoFlow::into_flow(#shown)
                }
            }
        });
        quote! {
            match event {
                #(#arms)*
                _ => ::core::result::Result::Ok(#krate::Flow::Continue),
            }
        }
    };
    let (waiting, now) = (arms(true), arms(false));
    quote! {
        #[allow(
            clippy::let_unit_value,
            clippy::match_single_binding,
            clippy::unit_arg,
            clippy::unused_async
        )]
        impl #impl_generics #krate::AgentHook for #ty #where_clause {
            #name
            #priority
            #events
            #sync_events
            #tools
            #inherit
            async fn on_event(&self, event: &mut #krate::HookEvent<'_>) -> #result {
                #waiting
            }
            fn on_event_now(&self, event: &mut #krate::HookEvent<'_>) -> #result {
                #now
            }
        }
    }
}
