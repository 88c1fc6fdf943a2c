//! Checks calls: functions, methods, loops and patterns.

use hooks_agent_core::options::list_of;
use regex::RegexBuilder;

use crate::expression::check::names::{Check, Checked, NAMES};
use crate::expression::check::node::{Constant, Loop, Node, Over, Pattern};
use crate::expression::check::types::Type;
use crate::expression::functions::glob::glob;
use crate::expression::functions::table::{Form, Function, SIGNATURES, Signature};
use crate::expression::functions::times::zone_of;
use crate::expression::syntax::tree::{Kind, Syntax};
use crate::expression::values::fault::Steps;
use crate::expression::values::value::Value;

/// The most loops inside each other.
const MOST_LOOPS: usize = 2;
/// The most patterns.
const MOST_PATTERNS: usize = 8;
/// The bytes of compiled patterns, with how many times a byte of a text costs more than by the simplest ones.
const PATTERN_SIZES: [(usize, usize); 3] = [(32 << 10, 1), (128 << 10, 4), (256 << 10, 8)];

impl Check<'_> {
    pub(crate) fn call(
        &mut self,
        at: usize,
        of: Option<&Syntax>,
        name: &str,
        args: &[Syntax],
    ) -> Checked {
        match (of, name, args) {
            (None, "has", [of]) => return self.has(of),
            (None, "has", _) => return self.mistake(at, "`has` takes a field such as `args.to`"),
            (None, "dyn", [of]) => return (self.node(of).0, Type::Any),
            (None, "origin", args) => return self.origin(at, args),
            (Some(thread), "last", [tool]) if self.record(thread) == Some("thread") => {
                self.uses.past = true;
                return match &tool.kind {
                    Kind::Text(tool) => (Node::Last(tool.as_str().into()), Type::Any),
                    _ => self.mistake(tool.at, "expected the name of a tool, such as `\"search\"`"),
                };
            }
            (Some(range), _, [local, bodies @ ..]) => {
                if let Some(over) = Over::of(name) {
                    return self.repeat(at, over, range, local, bodies);
                }
            }
            _ => {}
        }
        if name == "matches" {
            return self.matches(at, of, args);
        }
        if name == "glob" && of.is_none() {
            return self.glob(at, args);
        }
        self.function(at, of, name, args)
    }

    fn origin(&mut self, at: usize, args: &[Syntax]) -> Checked {
        if !cfg!(feature = "provenance") {
            return self.mistake(at, "`origin` needs the feature `provenance` of this program");
        }
        let path = match args {
            [Syntax { kind: Kind::Text(text), .. }] => text.as_str().strip_prefix("args."),
            _ => None,
        };
        let path = path.filter(|path| path.split('.').all(|field| !field.is_empty()));
        match path {
            Some(path) => (Node::Origin(path.into()), Type::List),
            None => {
                self.mistake(at, "`origin` takes the path of an argument, such as `\"args.to\"`")
            }
        }
    }

    fn has(&mut self, of: &Syntax) -> Checked {
        let Kind::Select(map, field) = &of.kind else {
            return self.mistake(of.at, "`has` takes a field such as `args.to`");
        };
        if self.record(map) == Some("vars") {
            let is_there = self.vars.is_some_and(|vars| vars.contains_key(field));
            return (Node::Constant(Constant::Bool(is_there)), Type::Bool);
        }
        if self.is_counts(map) {
            return self.mistake(of.at, "a tool that never ran has the count 0: compare with it");
        }
        if let Some("agent" | "user" | "thread" | "call") = self.record(map) {
            self.select(of.at, map, field);
            return (Node::Constant(Constant::Bool(true)), Type::Bool);
        }
        let (node, kind) = self.boxed(map);
        if !kind.may_be(Type::Map) {
            return self.mistake(of.at, format!("{kind} has no fields, so no `{field}`"));
        }
        (Node::Has(node, field.as_str().into()), Type::Bool)
    }

    fn repeat(
        &mut self,
        at: usize,
        over: Over,
        range: &Syntax,
        local: &Syntax,
        bodies: &[Syntax],
    ) -> Checked {
        let Kind::Name(local_name) = &local.kind else {
            return self.mistake(local.at, "expected the name of a variable");
        };
        if NAMES.contains(&local_name.as_str()) {
            let message = format!("`{local_name}` is taken; expected another name");
            return self.mistake(local.at, message);
        }
        let (filter, body) = match (over, bodies) {
            (_, [body]) => (None, body),
            (Over::Map, [filter, body]) => (Some(filter), body),
            _ => return self.mistake(at, "expected a variable and a condition"),
        };
        if self.locals.len() == MOST_LOOPS {
            return self
                .mistake(at, format!("expected at most {MOST_LOOPS} loops inside each other"));
        }
        let (range_node, kind) = self.boxed(range);
        if !kind.may_be_one_of(&[Type::List, Type::Map]) {
            self.mistake(range.at, format!("expected a list or a map, found {kind}"));
        }
        let item = if kind == Type::Map { Type::Text } else { Type::Any };
        self.locals.push((local_name.clone(), item));
        let filter = filter.map(|filter| Box::new(self.expected(filter, Type::Bool)));
        let body = match over {
            Over::Map => self.node(body).0,
            _ => self.expected(body, Type::Bool),
        };
        let body = Box::new(body);
        self.locals.pop();
        let returns = match over {
            Over::Map | Over::Filter => Type::List,
            Over::All | Over::Exists | Over::ExistsOne => Type::Bool,
        };
        (Node::Loop(Loop { over, range: range_node, body, filter }), returns)
    }

    fn matches(&mut self, at: usize, of: Option<&Syntax>, args: &[Syntax]) -> Checked {
        let ((Some(text), [pattern]) | (None, [text, pattern])) = (of, args) else {
            return self.mistake(at, "`matches` takes a string and a pattern");
        };
        let text = Box::new(self.expected(text, Type::Text));
        let Kind::Text(literal) = &pattern.kind else {
            return self.mistake(pattern.at, "expected a pattern that is written out");
        };
        if literal.contains(char::is_control) {
            let message = "the pattern has a control character: write it as r\"..\", in which `\\b` stays what it is";
            return self.mistake(pattern.at, message);
        }
        self.patterns += 1;
        if self.patterns > MOST_PATTERNS {
            return self.mistake(at, format!("expected at most {MOST_PATTERNS} patterns"));
        }
        let mut error = String::new();
        for (size, cost) in PATTERN_SIZES {
            match RegexBuilder::new(literal).size_limit(size).build() {
                Ok(pattern) => return (Node::Matches(text, Pattern { pattern, cost }), Type::Bool),
                Err(failed) => error = failed.to_string(),
            }
        }
        let why = error.lines().last().unwrap_or_default();
        let why = why.trim().trim_start_matches("error: ");
        self.mistake(pattern.at, format!("invalid pattern: {why}"))
    }

    fn glob(&mut self, at: usize, args: &[Syntax]) -> Checked {
        let [text, pattern] = args else {
            return self.mistake(at, "`glob` takes a string and a pattern");
        };
        let text = self.expected(text, Type::Text);
        let Kind::Text(literal) = &pattern.kind else {
            let pattern = self.expected(pattern, Type::Text);
            return (Node::Call(Function::GlobOf, vec![text, pattern]), Type::Bool);
        };
        match glob(literal) {
            Ok(matcher) => (Node::Glob(Box::new(text), matcher), Type::Bool),
            Err(why) => self.mistake(pattern.at, why),
        }
    }

    fn function(&mut self, at: usize, of: Option<&Syntax>, name: &str, args: &[Syntax]) -> Checked {
        let Some(signature) = SIGNATURES.iter().find(|it| it.name == name) else {
            let known: Vec<_> = function_names().collect();
            return self.mistake(at, list_of("function", Some(name), known.iter().copied()));
        };
        let Signature { function, form, takes, optional, returns, .. } = signature;
        match (form, of) {
            (Form::Function, Some(_)) => {
                return self.mistake(at, format!("expected `{name}(..)`: it is no method"));
            }
            (Form::Method, None) => {
                return self.mistake(at, format!("expected a value before it: `value.{name}(..)`"));
            }
            _ => {}
        }
        let given: Vec<_> = of.into_iter().chain(args).collect();
        if given.len() > takes.len() || given.len() + optional < takes.len() {
            let most = takes.len() - usize::from(of.is_some());
            let least = most - optional;
            let expected =
                if least == most { most.to_string() } else { format!("{least} or {most}") };
            let found = args.len();
            return self.mistake(at, format!("`{name}` takes {expected} arguments, found {found}"));
        }
        let mut nodes = Vec::with_capacity(given.len());
        for (arg, types) in given.into_iter().zip(*takes) {
            let (node, kind) = self.node(arg);
            if !kind.may_be_one_of(types) {
                let types: Vec<_> = types.iter().map(ToString::to_string).collect();
                let types = types.join(" or ");
                self.mistake(arg.at, format!("`{name}` takes {types}, found {kind}"));
            }
            nodes.push(node);
        }
        self.check_literals(at, *function, &nodes);
        (Node::Call(*function, nodes), *returns)
    }
}

impl Check<'_> {
    /// Reads times and zones that are written out: a mistake in one would fail each time.
    fn check_literals(&mut self, at: usize, function: Function, args: &[Node]) {
        let text = |node: &Node| match node {
            Node::Constant(Constant::Text(text)) => Some(text.to_string()),
            _ => None,
        };
        let failed = match (function, args) {
            (Function::Timestamp | Function::Duration, [arg]) => text(arg).and_then(|text| {
                function
                    .call(&[Value::text(&text)], &Steps::new())
                    .err()
                    .map(|it| it.message().to_owned())
            }),
            (Function::Part(_), [_, zone]) => text(zone)
                .filter(|zone| zone_of(zone).is_none())
                .map(|_| "expected a time zone such as `Europe/Berlin`".to_owned()),
            _ => None,
        };
        if let Some(message) = failed {
            self.mistake(at, message);
        }
    }
}

fn function_names() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 10] =
        ["all", "exists", "exists_one", "filter", "map", "has", "matches", "glob", "last", "dyn"];
    SIGNATURES.iter().map(|it| it.name).chain(OTHERS)
}
