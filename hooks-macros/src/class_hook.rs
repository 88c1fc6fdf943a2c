//! `#[class_hook]`: a function that the linker registers.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Error, ExprPath, ItemFn, LitInt, LitStr, Token};

use crate::support::arguments::{
    RELATIONS, parse_arguments, parse_crate, parse_names, parse_value,
};
use crate::support::errors::Errors;
use crate::support::runtime::Runtime;
use crate::support::words::Words;

/// A class hook that is understood.
struct ClassHook {
    runtime: Runtime,
    hook_type: Option<ExprPath>,
    name: Option<LitStr>,
    priority: Option<TokenStream>,
    /// Calls that say where it stands by the names of others.
    order: TokenStream,
}

// Input:  `#[class_hook(Agent::POST_REPLY, name = "stamp")] async fn stamp(..) {}`
// Output: the function, and `inventory::submit! { LinkedHook { .. } }`
pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let message = "`#[class_hook(..)]` goes on a function";
            let error = Error::new(error.span(), message).into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::default();
    let hook = parse_attr(attr, &mut errors);
    if let Some(param) = function.sig.generics.type_params().next() {
        errors.at(param, "a class hook is one function, it cannot be generic: name the type");
    }
    if let Some(receiver) = function.sig.receiver() {
        errors.at(receiver, "a class hook is a free function: the agent is its first parameter");
    }
    if let Some(this) = Words::of(&function.sig.inputs).find("Self") {
        let message = "a class hook is a free function, not one of an `impl` block: move it out, and \
                       name the type";
        errors.at(this, message);
    }
    match errors.or(hook) {
        Ok(hook) => {
            let submission = submission(&hook, &function);
            // Its signature is what the hook type asks for.
            quote! {
                #[allow(
                    clippy::ptr_arg, clippy::trivially_copy_pass_by_ref,
                    clippy::unnecessary_wraps, clippy::unused_async
                )]
                #item
                #submission
            }
        }
        Err(errors) => quote!(#item #errors),
    }
}

fn parse_attr(attr: TokenStream, errors: &mut Errors) -> ClassHook {
    let mut hook_type = None;
    let mut rest = TokenStream::new();
    let parser = |input: ParseStream<'_>| {
        let message = "name the hook type first: `#[class_hook(Agent::PRE_REPLY)]`";
        let start = input.span();
        let path: ExprPath = input.parse().map_err(|error| Error::new(error.span(), message))?;
        if input.peek(Token![=]) {
            return Err(Error::new(start, message));
        }
        hook_type = Some(path);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        rest = input.parse()?;
        Ok(())
    };
    if let Err(error) = parser.parse2(attr) {
        errors.add(error);
    }
    let (mut krate, mut name, mut priority) = (None, None, None);
    let mut order = TokenStream::new();
    let known = ["name", "priority", "before", "after", "requires", "crate"];
    parse_arguments(rest, &known, errors, |argument, input| {
        if argument == &"name" {
            name = Some(parse_value::<LitStr>(input)?);
        } else if argument == &"priority" {
            input.parse::<Token![=]>()?;
            let minus: Option<Token![-]> = input.parse()?;
            let number: LitInt = input.parse()?;
            number.base10_parse::<i32>()?;
            priority = Some(quote!(#minus #number));
        } else if RELATIONS.contains(&argument.text.as_str()) {
            let relation = format_ident!("{}", argument.text);
            let names = parse_names(input)?;
            order.extend(quote!(#(.#relation(#names))*));
        } else {
            krate = Some(parse_crate(input)?);
        }
        Ok(())
    });
    ClassHook { runtime: Runtime::new(krate), hook_type, name, priority, order }
}

fn submission(hook: &ClassHook, function: &ItemFn) -> TokenStream {
    let ClassHook { runtime, hook_type, name, priority, order } = hook;
    let ident = &function.sig.ident;
    let cfgs = function.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let name = name.as_ref().map_or_else(|| ident.to_string(), LitStr::value);
    let priority = priority.clone().unwrap_or_else(|| {
        let options = runtime.public("HookOptions");
        quote!(<#options>::DEFAULT_PRIORITY)
    });
    let inventory = runtime.private("inventory");
    let linked_hook = runtime.private("LinkedHook");
    let class_of = runtime.private("class_of");
    let describe = runtime.private("describe");
    let options = runtime.public("HookOptions");
    // At the function: a signature that does not fit is shown there.
    let link = runtime.private("link").into_token_stream();
    let registry = Ident::new("registry", Span::mixed_site());
    let source = quote!((::core::file!(), ::core::line!()));
    let install = quote_spanned! {ident.span()=>
        #link(
            #registry,
            #hook_type,
            #options::named(#name).priority(#priority) #order,
            #source,
            #ident,
        )
    };
    let function = ident.to_string();
    quote! {
        #(#cfgs)*
        #inventory::submit! {
            #linked_hook {
                module: ::core::module_path!(),
                line: ::core::line!(),
                function: #function,
                file: ::core::file!(),
                name: #name,
                priority: #priority,
                hook_type: || #describe(#hook_type),
                class: || #class_of(#hook_type),
                install: |#registry| #install,
            }
        }
    }
}
