//! Checks an expression: its names, and its types as far as they can be seen.

use hooks_agent_core::options::list_of;

use crate::expression::check::node::{Constant, Fact, Node, Vars};
use crate::expression::check::types::Type;
use crate::expression::syntax::mistake::Mistake;
use crate::expression::syntax::tree::{Binary, Kind, Syntax, Unary};

pub(crate) const NAMES: [&str; 9] =
    ["args", "tool", "server", "agent", "user", "now", "thread", "call", "vars"];

/// Checks an expression, with the variables of its file if they are known. Returns it with what it
/// asks beside the call.
pub(crate) fn check(syntax: &Syntax, vars: Option<&Vars>) -> Result<(Node, Uses), Vec<Mistake>> {
    let (locals, mistakes, uses) = (Vec::new(), Vec::new(), Uses::default());
    let mut check = Check { vars, locals, mistakes, uses, patterns: 0 };
    let (node, kind) = check.node(syntax);
    if !kind.may_be(Type::Bool) {
        check.mistake(syntax.at, format!("expected a condition, which is bool, found {kind}"));
    }
    match check.mistakes.as_slice() {
        [] => Ok((node, check.uses)),
        _ => {
            check.mistakes.sort_by_key(|it| it.at);
            Err(check.mistakes)
        }
    }
}

pub(crate) struct Check<'a> {
    pub(crate) vars: Option<&'a Vars>,
    /// The variables of the loops around, outermost first.
    pub(crate) locals: Vec<(String, Type)>,
    mistakes: Vec<Mistake>,
    pub(crate) uses: Uses,
    pub(crate) patterns: usize,
}

/// What an expression asks beside the tool call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Uses {
    /// What ran before.
    pub(crate) past: bool,
    /// The roles or attributes of the user.
    pub(crate) roles: bool,
}

pub(crate) type Checked = (Node, Type);

const UNKNOWN: Checked = (Node::Constant(Constant::Null), Type::Any);

impl Check<'_> {
    pub(crate) fn mistake(&mut self, at: usize, message: impl Into<String>) -> Checked {
        self.mistakes.push(Mistake::new(at, message));
        UNKNOWN
    }

    pub(crate) fn boxed(&mut self, syntax: &Syntax) -> (Box<Node>, Type) {
        let (node, kind) = self.node(syntax);
        (Box::new(node), kind)
    }

    /// Checks an expression of an expected type.
    pub(crate) fn expected(&mut self, syntax: &Syntax, expected: Type) -> Node {
        let (node, kind) = self.node(syntax);
        if !kind.may_be(expected) {
            self.mistake(syntax.at, format!("expected {expected}, found {kind}"));
        }
        node
    }

    pub(crate) fn node(&mut self, syntax: &Syntax) -> Checked {
        let at = syntax.at;
        match &syntax.kind {
            Kind::Null => (Node::Constant(Constant::Null), Type::Null),
            Kind::Bool(it) => (Node::Constant(Constant::Bool(*it)), Type::Bool),
            Kind::Int(it) => (Node::Constant(Constant::Int(*it)), Type::Int),
            Kind::Uint(it) => (Node::Constant(Constant::Uint(*it)), Type::Uint),
            Kind::Double(it) => (Node::Constant(Constant::Double(*it)), Type::Double),
            Kind::Text(it) => (Node::Constant(Constant::Text(it.as_str().into())), Type::Text),
            Kind::Name(name) => self.name(at, name),
            Kind::Select(of, field) => self.select(at, of, field),
            Kind::Index(of, index) => self.index(at, of, index),
            Kind::Call(of, name, args) => self.call(at, of.as_deref(), name, args),
            Kind::Unary(operator, operand) => self.unary(at, *operator, operand),
            Kind::Binary(operator, one, other) => self.binary(at, *operator, one, other),
            Kind::Condition(parts) => self.condition(parts),
            Kind::List(items) => {
                (Node::List(items.iter().map(|it| self.node(it).0).collect()), Type::List)
            }
            Kind::Map(entries) => {
                (Node::Map(entries.iter().map(|it| self.entry(it)).collect()), Type::Map)
            }
        }
    }

    fn name(&mut self, at: usize, name: &str) -> Checked {
        if let Some(depth) = self.locals.iter().rposition(|(local, _)| local == name) {
            return (Node::Local(depth), self.locals[depth].1);
        }
        match name {
            "args" => (Node::Fact(Fact::Args), Type::Map),
            "tool" => (Node::Fact(Fact::Tool), Type::Text),
            "server" => (Node::Fact(Fact::Server), Type::Text),
            "now" => (Node::Fact(Fact::Now), Type::Time),
            "vars" => match self.vars {
                Some(vars) => (Node::Vars(vars.clone()), Type::Map),
                None => (UNKNOWN.0, Type::Map),
            },
            "agent" | "user" | "thread" | "call" => {
                let fields = fields_of(name).iter().map(|it| it.0);
                let fields: Vec<_> = fields.map(|field| format!("`{name}.{field}`")).collect();
                self.mistake(at, format!("expected a field of it: {}", fields.join(", ")))
            }
            _ => {
                let locals: Vec<_> = self.locals.iter().map(|it| it.0.clone()).collect();
                let known = NAMES.into_iter().chain(locals.iter().map(String::as_str));
                self.mistake(at, list_of("name", Some(name), known))
            }
        }
    }

    /// Returns the name of a record such as `user`, unless a loop has a variable of this name.
    pub(crate) fn record<'s>(&self, syntax: &'s Syntax) -> Option<&'s str> {
        let Kind::Name(name) = &syntax.kind else { return None };
        let is_local = self.locals.iter().any(|(local, _)| local == name);
        (!is_local).then_some(name.as_str())
    }

    pub(crate) fn select(&mut self, at: usize, of: &Syntax, field: &str) -> Checked {
        match self.record(of) {
            Some("vars") => return self.var(at, field),
            Some(record @ ("agent" | "user" | "thread" | "call")) => {
                let fields = fields_of(record);
                let found = fields.iter().find(|it| it.0 == field);
                let Some((_, fact, kind)) = found else {
                    let known = fields.iter().map(|it| it.0);
                    return self.mistake(at + 1, list_of("field", Some(field), known));
                };
                self.uses.past |= *fact == Fact::Counts;
                self.uses.roles |= matches!(fact, Fact::UserRoles | Fact::UserAttributes);
                return (Node::Fact(*fact), *kind);
            }
            _ => {}
        }
        if self.is_counts(of) {
            self.uses.past = true;
            return (Node::Count(field.into()), Type::Int);
        }
        let (node, kind) = self.boxed(of);
        if !kind.may_be(Type::Map) {
            return self.mistake(at, format!("{kind} has no fields, so no `{field}`"));
        }
        (Node::Select(node, field.into()), Type::Any)
    }

    fn shared_vars(&self) -> Vars {
        self.vars.cloned().unwrap_or_default()
    }

    /// Returns whether the expression is `thread.counts`.
    pub(crate) fn is_counts(&self, syntax: &Syntax) -> bool {
        matches!(&syntax.kind, Kind::Select(of, field)
            if field == "counts" && self.record(of) == Some("thread"))
    }

    fn var(&mut self, at: usize, name: &str) -> Checked {
        let Some(vars) = self.vars else { return UNKNOWN };
        match vars.get(name) {
            Some(json) => (Node::Var(self.shared_vars(), name.into()), Type::of_json(json)),
            None if vars.is_empty() => {
                self.mistake(at + 1, format!("there is no variable `{name}`: write it in `[vars]`"))
            }
            None => {
                let known = vars.keys().map(String::as_str);
                let message = list_of("variable", Some(name), known);
                self.mistake(at + 1, message)
            }
        }
    }

    fn index(&mut self, at: usize, of: &Syntax, index: &Syntax) -> Checked {
        if self.is_counts(of) {
            self.uses.past = true;
            return match &index.kind {
                Kind::Text(tool) if tool.contains(['*', '?']) => {
                    self.mistake(index.at, "expected the name of a tool, found a glob")
                }
                Kind::Text(tool) => (Node::Count(tool.as_str().into()), Type::Int),
                _ => (Node::CountOf(Box::new(self.expected(index, Type::Text))), Type::Int),
            };
        }
        let (node, kind) = self.boxed(of);
        let (index_node, index_kind) = self.boxed(index);
        let keys: &[Type] = match kind {
            Type::List => &[Type::Int, Type::Uint],
            Type::Map => &[Type::Text, Type::Int, Type::Uint, Type::Bool],
            Type::Any => &[Type::Any],
            _ => return self.mistake(at, format!("{kind} has no index")),
        };
        if !index_kind.may_be_one_of(keys) {
            return self.mistake(index.at, format!("{kind} has no index that is {index_kind}"));
        }
        (Node::Index(node, index_node), Type::Any)
    }

    fn entry(&mut self, (key, value): &(Syntax, Syntax)) -> (Node, Node) {
        let (key_node, kind) = self.node(key);
        if !kind.may_be_one_of(&[Type::Bool, Type::Int, Type::Uint, Type::Text]) {
            self.mistake(key.at, format!("expected a key, found {kind}"));
        }
        (key_node, self.node(value).0)
    }

    fn condition(&mut self, [condition, yes, no]: &[Syntax; 3]) -> Checked {
        let condition = self.expected(condition, Type::Bool);
        let ((yes, one), (no, other)) = (self.node(yes), self.node(no));
        let kind = if one == other { one } else { Type::Any };
        (Node::Condition(Box::new([condition, yes, no])), kind)
    }

    fn unary(&mut self, at: usize, operator: Unary, operand: &Syntax) -> Checked {
        match operator {
            Unary::Not => (Node::Not(Box::new(self.expected(operand, Type::Bool))), Type::Bool),
            Unary::Minus => {
                let (node, kind) = self.boxed(operand);
                if !kind.may_be_one_of(&[Type::Int, Type::Double]) {
                    return self.mistake(at, format!("`-` does not take {kind}"));
                }
                (Node::Minus(node), kind)
            }
        }
    }

    fn binary(&mut self, at: usize, operator: Binary, one: &Syntax, other: &Syntax) -> Checked {
        if matches!(operator, Binary::And | Binary::Or) {
            let one = Box::new(self.expected(one, Type::Bool));
            let other = Box::new(self.expected(other, Type::Bool));
            return (Node::Binary(operator, one, other), Type::Bool);
        }
        let ((one, left), (other, right)) = (self.boxed(one), self.boxed(other));
        match result_of(operator, left, right) {
            Some(kind) => (Node::Binary(operator, one, other), kind),
            None => {
                let sign = operator.sign();
                self.mistake(at, format!("`{sign}` does not take {left} and {right}"))
            }
        }
    }
}

/// Returns the fields of a record with their types.
fn fields_of(record: &str) -> &'static [(&'static str, Fact, Type)] {
    match record {
        "agent" => &[("name", Fact::AgentName, Type::Text), ("path", Fact::AgentPath, Type::List)],
        "user" => &[
            ("id", Fact::UserId, Type::Text),
            ("roles", Fact::UserRoles, Type::List),
            ("attributes", Fact::UserAttributes, Type::Map),
        ],
        "thread" => &[("id", Fact::ThreadId, Type::Text), ("counts", Fact::Counts, Type::Map)],
        _ => &[("depth", Fact::Depth, Type::Int), ("round", Fact::Round, Type::Int)],
    }
}

/// Returns the type of an operation, or `None` if it does not take these types.
fn result_of(operator: Binary, one: Type, other: Type) -> Option<Type> {
    use Type::{Any, Double, Int, List, Span, Text, Time, Uint};
    let is_fit = match operator {
        Binary::And | Binary::Or => true,
        Binary::Equal | Binary::Unequal => one.may_equal(other),
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            one.may_compare(other)
        }
        Binary::In => other.may_be_one_of(&[List, Type::Map]),
        Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
            let same: &[Type] = match operator {
                Binary::Add => &[Int, Uint, Double, Text, List, Span],
                Binary::Subtract => &[Int, Uint, Double, Span],
                Binary::Remainder => &[Int, Uint],
                _ => &[Int, Uint, Double],
            };
            let mixed: &[(Type, Type, Type)] = match operator {
                Binary::Add => &[(Time, Span, Time), (Span, Time, Time)],
                Binary::Subtract => &[(Time, Time, Span), (Time, Span, Time)],
                _ => &[],
            };
            let same = same.iter().map(|it| (*it, *it, *it));
            let forms = same.chain(mixed.iter().copied());
            let mut fit = forms.filter(|(a, b, _)| one.may_be(*a) && other.may_be(*b));
            let (_, _, first) = fit.next()?;
            return Some(if fit.all(|(_, _, it)| it == first) { first } else { Any });
        }
    };
    is_fit.then_some(Type::Bool)
}
