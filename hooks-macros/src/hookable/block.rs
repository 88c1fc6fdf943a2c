//! From syntax to meaning: an impl block or a trait, and which of its methods are hooked.

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::{Attribute, Generics, Type, parse_quote};

use crate::hookable::attrs::{Attrs, HookOptions, is_standard, split_conditional};
use crate::hookable::check::{
    check_associated, check_base, check_block_options, check_generics, check_lifetimes_of_block,
    check_type, check_unhooked_of_trait, needs_sized,
};
use crate::hookable::model::{Block, Head, Item, Role, Unmarked};
use crate::hookable::options::BlockOptions;
use crate::hookable::parse;
use crate::hookable::signature::associated::Associated;
use crate::support::errors::Errors;
use crate::support::runtime::Runtime;
use crate::support::words::Words;

impl Block {
    pub(crate) fn of_impl(attr: TokenStream, block: &parse::Block, errors: &mut Errors) -> Self {
        let options = BlockOptions::parse(attr, errors);
        let known_errors = errors.len();
        let role = match &block.base {
            Some(base) if !options.is_own => {
                check_base(base, errors);
                Role::Impl(base.clone())
            }
            base => {
                if base.is_some() {
                    check_generics(&block.generics, &block.self_ty, errors);
                }
                Role::Own(base.clone())
            }
        };
        check_type(&block.self_ty, errors);
        let ident = ident_of(&block.self_ty, errors);
        let generics = block.generics.clone();
        let mut model =
            Self::new(role, options, &block.attrs, generics, block.self_ty.clone(), ident);
        model.is_refused = errors.len() > known_errors;
        model.unsafety = block.unsafety;
        check_block_options(&model.role, &model.options, &block.self_ty, errors);
        let base = block.base.as_ref().filter(|_| matches!(model.role, Role::Own(_)));
        let associated = base.map(|base| Associated {
            base,
            self_ty: &block.self_ty,
            given: block.given().collect(),
        });
        let mut model = model.with_items(&block.items, associated.as_ref(), errors);
        if base.is_some() && model.methods().any(|method| method.is_async() && method.has_around())
        {
            let known_errors = errors.len();
            check_lifetimes_of_block(&model.generics, &model.self_ty, errors);
            model.is_refused |= errors.len() > known_errors;
        }
        model
    }

    pub(crate) fn of_trait(attr: TokenStream, item: &parse::Trait, errors: &mut Errors) -> Self {
        let options = BlockOptions::parse(attr, errors);
        let is_generic = !item.generics.params.is_empty();
        if is_generic {
            let message = "a hookable trait is one type, `dyn Trait`: it cannot be generic; leave the \
                           attribute out here, and write `#[hookable(own)]` on its impls";
            errors.at(&item.generics, message);
        }
        let ident = &item.ident;
        let head = Head {
            vis: item.vis.clone(),
            token: item.token,
            supertraits: item.supertraits.iter().cloned().collect(),
            where_clause: item.generics.where_clause.clone(),
        };
        let (role, self_ty) = (Role::Trait(head), parse_quote!(dyn #ident));
        let mut model =
            Self::new(role, options, &item.attrs, Generics::default(), self_ty, ident.clone());
        model.is_refused = is_generic;
        check_block_options(&model.role, &model.options, &item.ident, errors);
        model.with_items(&item.items, None, errors)
    }

    fn new(
        role: Role,
        options: BlockOptions,
        attrs: &[Attribute],
        generics: Generics,
        self_ty: Type,
        ident: Ident,
    ) -> Self {
        Self {
            role,
            runtime: Runtime::new(options.krate.clone()),
            options,
            is_refused: false,
            has_skipped: false,
            attrs: attrs.to_vec(),
            unsafety: None,
            generics,
            self_ty,
            ident,
            items: Vec::new(),
            unmarked: Vec::new(),
        }
    }

    fn with_items(
        mut self,
        items: &[parse::Item],
        associated: Option<&Associated<'_>>,
        errors: &mut Errors,
    ) -> Self {
        for item in items {
            match item {
                parse::Item::Other(item) => self.items.push(Item::Plain(item.clone())),
                parse::Item::Given(given) => self.items.push(Item::Plain(given.item.clone())),
                parse::Item::Associated(item, token) => {
                    self.is_refused = true;
                    check_associated(token, errors);
                    self.items.push(Item::Plain(item.clone()));
                }
                parse::Item::Method(method) => {
                    for method in split_conditional(method) {
                        let item = self.item(&method, associated, errors);
                        self.items.push(item);
                    }
                }
            }
        }
        // In an impl of a trait all may be left to the bodies of the trait; who wrote `skip` knows.
        let is_meant = matches!(self.role, Role::Impl(_)) || self.has_skipped;
        if self.methods().next().is_none() && !is_meant {
            self.is_refused = true;
            let message = if self.options.is_explicit {
                "no method to hook: mark the methods that are hooked with `#[hook]`"
            } else {
                "no method to hook: `reply`, `observe`, `print`, `reasoning` and `acting` are \
                 hooked by their names, others are marked `#[hook]`"
            };
            // One that cannot be read may have been meant.
            if errors.len() == 0 {
                errors.at(&self.ident, message);
            }
        }
        self
    }

    fn item(
        &mut self,
        method: &parse::Method,
        associated: Option<&Associated<'_>>,
        errors: &mut Errors,
    ) -> Item {
        let options = HookOptions::parse(&method.attrs, errors);
        self.has_skipped |= options.is_skipped;
        if options.is_skipped || !self.is_hooked(method, &options) {
            let mut method = method.clone();
            if matches!(self.role, Role::Impl(_))
                && !options.is_skipped
                && method.sig.receiver().is_some()
            {
                let Attrs { cfgs, .. } = Attrs::split(&method.attrs);
                self.unmarked.push(Unmarked { name: method.sig.ident.clone(), cfgs });
            }
            if matches!(self.role, Role::Trait(_))
                && !check_unhooked_of_trait(&method, self.is_async_trait(), errors)
            {
                // So that what is wrong is said once.
                let clause = method.sig.generics.make_where_clause();
                clause.predicates.push(parse_quote!(Self: ::core::marker::Sized));
            }
            return Item::Plain(method.without_helpers());
        }
        let resolved = associated.map(|associated| associated.resolved(method));
        let method = resolved.as_ref().unwrap_or(method);
        let hooked = self.method(method, options, errors);
        // Of two under conditions, one may be there at a time; the compiler sees if both are.
        let twin = self.methods().find(|known| {
            known.args_ident == hooked.args_ident
                && (known.cfgs.is_empty() || hooked.cfgs.is_empty())
        });
        if let Some(twin) = twin {
            let cure = if hooked.name == twin.name { "name" } else { "args" };
            let message = format!(
                "`{}` would be the arguments of `{}` too: name one of them by \
                 `#[hook({cure} = \"..\")]`",
                hooked.args_ident, twin.name
            );
            errors.at(&method.sig.ident, message);
            return Item::Plain(method.without_helpers());
        }
        Item::Hooked(Box::new(hooked))
    }

    fn is_hooked(&self, method: &parse::Method, options: &HookOptions) -> bool {
        // What a hookable trait has of async methods is hooked.
        let is_of_trait = matches!(self.role, Role::Impl(_))
            && method.sig.asyncness.is_some()
            && !needs_sized(&method.sig)
            && !self.is_async_trait();
        let is_named = !self.options.is_explicit && is_standard(method);
        options.is_marked || is_named || is_of_trait
    }

    /// Whether `#[async_trait]` makes boxed methods of what is left async.
    fn is_async_trait(&self) -> bool {
        self.async_trait().is_some()
    }

    /// Whether it says that their futures need not be `Send`.
    pub(crate) fn is_async_trait_local(&self) -> bool {
        let list = self.async_trait().and_then(|attr| attr.meta.require_list().ok());
        list.is_some_and(|list| Words::of(&list.tokens).find("Send").is_some())
    }

    fn async_trait(&self) -> Option<&Attribute> {
        let is_it = |attr: &&Attribute| {
            attr.path().segments.last().is_some_and(|last| last.ident == "async_trait")
        };
        self.attrs.iter().find(is_it)
    }
}

/// The name of the type that the block is about.
fn ident_of(ty: &Type, errors: &mut Errors) -> Ident {
    let ident = match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.clone()),
        Type::Group(group) => return ident_of(&group.elem, errors),
        _ => None,
    };
    ident.unwrap_or_else(|| {
        errors.at(ty, "`#[hookable]` goes on an `impl` block of a struct");
        format_ident!("Unknown")
    })
}
