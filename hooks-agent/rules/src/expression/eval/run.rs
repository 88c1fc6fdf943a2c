//! Evaluates an expression over a tool call.

use std::rc::Rc;

use crate::expression::check::node::{Constant, Loop, Node, Over, Pattern};
use crate::expression::eval::facts::Facts;
use crate::expression::eval::operators;
use crate::expression::functions::table::is_in;
use crate::expression::syntax::tree::Binary;
use crate::expression::values::fault::{Fault, Steps};
use crate::expression::values::value::{List, Map, Text, Value};

/// Returns whether a condition holds.
///
/// # Errors
/// Why it is not known: a value is missing or of another type, or it takes too many steps.
pub(crate) fn holds(node: &Node, facts: &Facts<'_>) -> Result<bool, Fault> {
    let mut run = Run { facts, steps: Steps::new(), locals: Vec::new() };
    run.condition(node)
}

struct Run<'a> {
    facts: &'a Facts<'a>,
    steps: Steps,
    /// The items of the loops around, outermost first.
    locals: Vec<Value<'a>>,
}

impl<'a> Run<'a> {
    fn condition(&mut self, node: &'a Node) -> Result<bool, Fault> {
        match self.value(node)? {
            Value::Bool(it) => Ok(it),
            other => Err(Fault::new(format!("expected bool, found {}", other.type_name()))),
        }
    }

    fn value(&mut self, node: &'a Node) -> Result<Value<'a>, Fault> {
        self.steps.take(1)?;
        match node {
            Node::Constant(constant) => Ok(constant.value()),
            Node::Vars(vars) => Ok(Value::Map(Map::Json(vars))),
            // It was there when the condition was checked.
            Node::Var(vars, name) => Ok(vars.get(&**name).map_or(Value::Null, Value::of_json)),
            Node::Fact(fact) => self.facts.value(*fact, &self.steps),
            Node::Count(tool) => self.facts.count(tool),
            Node::CountOf(tool) => {
                let tool = self.text(tool)?;
                self.facts.count(tool.as_str())
            }
            Node::Last(tool) => self.facts.last(tool),
            Node::Origin(path) => self.facts.origin(path),
            Node::Local(depth) => Ok(self.locals[*depth].clone()),
            Node::Select(of, field) => {
                let value = self.value(of)?;
                let found = operators::field(&value, field)?;
                found.ok_or_else(|| Fault::new(format!("there is no `{field}`")))
            }
            Node::Has(of, field) => {
                let value = self.value(of)?;
                Ok(Value::Bool(operators::field(&value, field)?.is_some()))
            }
            Node::Index(of, index) => {
                let (value, index) = (self.value(of)?, self.value(index)?);
                operators::index(&value, &index)
            }
            Node::Not(operand) => Ok(Value::Bool(!self.condition(operand)?)),
            Node::Minus(operand) => operators::negate(&self.value(operand)?),
            Node::Binary(Binary::And, one, other) => self.joined(one, other, false),
            Node::Binary(Binary::Or, one, other) => self.joined(one, other, true),
            Node::Binary(Binary::In, one, other) => {
                let (item, list) = (self.value(one)?, self.value(other)?);
                is_in(&item, &list, &self.steps).map(Value::Bool)
            }
            Node::Binary(operator, one, other) => {
                let (one, other) = (self.value(one)?, self.value(other)?);
                operators::binary(*operator, &one, &other, &self.steps)
            }
            Node::Condition(parts) => {
                let [condition, yes, no] = &**parts;
                if self.condition(condition)? { self.value(yes) } else { self.value(no) }
            }
            Node::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|it| self.value(it)).collect();
                items.map(Value::list)
            }
            Node::Map(entries) => self.map(entries),
            Node::Loop(repeat) => self.repeat(repeat),
            Node::Matches(text, Pattern { pattern, cost }) => {
                let text = self.text(text)?;
                self.steps.parse(text.as_str().len().saturating_mul(*cost))?;
                Ok(Value::Bool(pattern.is_match(text.as_str())))
            }
            Node::Glob(text, glob) => {
                let text = self.text(text)?;
                self.steps.parse(text.as_str().len())?;
                Ok(Value::Bool(glob.is_match(text.as_str())))
            }
            Node::Call(function, args) => {
                let args: Result<Vec<_>, _> = args.iter().map(|it| self.value(it)).collect();
                function.call(&args?, &self.steps)
            }
        }
    }

    fn text(&mut self, node: &'a Node) -> Result<Text<'a>, Fault> {
        match self.value(node)? {
            Value::Text(text) => {
                self.steps.read(text.as_str().len())?;
                Ok(text)
            }
            other => Err(Fault::new(format!("expected a string, found {}", other.type_name()))),
        }
    }

    fn map(&mut self, entries: &'a [(Node, Node)]) -> Result<Value<'a>, Fault> {
        let mut made: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let (key, value) = (self.value(key)?, self.value(value)?);
            if made.iter().any(|(it, _)| it.compare(&key).is_some_and(std::cmp::Ordering::is_eq)) {
                return Err(Fault::new("a map has a key twice"));
            }
            made.push((key, value));
        }
        Ok(Value::Map(Map::Made(made.into())))
    }

    /// Evaluates `&&` or `||`: one side that decides is enough, whatever the other one is.
    fn joined(
        &mut self,
        one: &'a Node,
        other: &'a Node,
        decides: bool,
    ) -> Result<Value<'a>, Fault> {
        let one = self.condition(one);
        if one == Ok(decides) || one == Err(Fault::Spent) {
            return one.map(Value::Bool);
        }
        let other = self.condition(other);
        if other == Ok(decides) || other == Err(Fault::Spent) {
            return other.map(Value::Bool);
        }
        one.and(other).map(Value::Bool)
    }

    fn repeat(&mut self, repeat: &'a Loop) -> Result<Value<'a>, Fault> {
        let range = self.value(&repeat.range)?;
        let mut outcome = Outcome::new(repeat.over);
        match range {
            Value::List(list) => {
                for at in 0..list.len() {
                    let Some(item) = list.get(at) else { break };
                    if self.is_decided(repeat, item, &mut outcome)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                self.steps.take(map.len() / 8)?;
                let keys: Vec<_> = map.keys().collect();
                for key in keys {
                    if self.is_decided(repeat, key, &mut outcome)? {
                        break;
                    }
                }
            }
            other => return Err(Fault::new(format!("no loop goes over {}", other.type_name()))),
        }
        outcome.end()
    }

    /// Goes over an item, and returns whether the others do not matter.
    fn is_decided(
        &mut self,
        repeat: &'a Loop,
        item: Value<'a>,
        outcome: &mut Outcome<'a>,
    ) -> Result<bool, Fault> {
        self.steps.take(1)?;
        self.locals.push(item);
        let decided = self.item(repeat, outcome);
        self.locals.pop();
        decided
    }

    fn item(&mut self, repeat: &'a Loop, outcome: &mut Outcome<'a>) -> Result<bool, Fault> {
        if let Outcome::Items(items) = outcome {
            let filter = match repeat.over {
                Over::Filter => Some(&repeat.body),
                _ => repeat.filter.as_ref(),
            };
            if let Some(filter) = filter
                && !self.condition(filter)?
            {
                return Ok(false);
            }
            items.push(match repeat.over {
                Over::Filter => self.locals.last().cloned().unwrap_or(Value::Null),
                _ => self.value(&repeat.body)?,
            });
            return Ok(false);
        }
        let holds = self.condition(&repeat.body);
        if holds == Err(Fault::Spent) {
            return Err(Fault::Spent);
        }
        match outcome {
            Outcome::Joined { decides, all } => match holds {
                Ok(it) if it == *decides => {
                    *all = Ok(it);
                    return Ok(true);
                }
                Ok(_) => {}
                Err(fault) => *all = Err(fault),
            },
            Outcome::Counted(count) => *count += usize::from(holds?),
            Outcome::Items(_) => {}
        }
        Ok(false)
    }
}

/// What a loop has come to.
enum Outcome<'a> {
    Joined { decides: bool, all: Result<bool, Fault> },
    Counted(usize),
    Items(Vec<Value<'a>>),
}

impl<'a> Outcome<'a> {
    fn new(over: Over) -> Self {
        match over {
            Over::All => Self::Joined { decides: false, all: Ok(true) },
            Over::Exists => Self::Joined { decides: true, all: Ok(false) },
            Over::ExistsOne => Self::Counted(0),
            Over::Filter | Over::Map => Self::Items(Vec::new()),
        }
    }

    fn end(self) -> Result<Value<'a>, Fault> {
        match self {
            Self::Joined { all, .. } => all.map(Value::Bool),
            Self::Counted(count) => Ok(Value::Bool(count == 1)),
            Self::Items(items) => Ok(Value::List(List::Made(Rc::from(items)))),
        }
    }
}

impl Constant {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(it) => Value::Bool(*it),
            Self::Int(it) => Value::Int(*it),
            Self::Uint(it) => Value::Uint(*it),
            Self::Double(it) => Value::Double(*it),
            Self::Text(it) => Value::text(it),
        }
    }
}
