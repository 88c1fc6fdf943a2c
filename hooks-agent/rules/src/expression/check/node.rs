//! A checked expression: its names are found, and its patterns compiled.

use std::sync::Arc;

use globset::GlobMatcher;
use regex::Regex;
use serde_json::{Map as JsonMap, Value as Json};

use crate::expression::functions::table::Function;
use crate::expression::syntax::tree::Binary;

/// A checked expression.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Constant),
    /// The variables of the rules, and one of them.
    Vars(Vars),
    Var(Vars, Box<str>),
    Fact(Fact),
    /// How often a tool has finished in the thread.
    Count(Box<str>),
    /// The same of the tool that an expression names.
    CountOf(Box<Node>),
    /// The last call of a tool that has finished in the thread.
    Last(Box<str>),
    /// Where the argument of this path came from.
    Origin(Box<str>),
    /// The variable of the loop at this depth.
    Local(usize),
    Select(Box<Node>, Box<str>),
    Has(Box<Node>, Box<str>),
    Index(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    Condition(Box<[Node; 3]>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Loop(Loop),
    Matches(Box<Node>, Pattern),
    Glob(Box<Node>, GlobMatcher),
    Call(Function, Vec<Node>),
}

/// The variables of rules, which all their conditions share.
pub(crate) type Vars = Arc<JsonMap<String, Json>>;

/// A pattern, with how many times a byte of a text costs more than by the simplest one.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) pattern: Regex,
    pub(crate) cost: usize,
}

#[derive(Debug)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Box<str>),
}

/// A name whose value comes from the tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Args,
    Tool,
    Server,
    AgentName,
    AgentPath,
    UserId,
    UserRoles,
    UserAttributes,
    Now,
    ThreadId,
    Counts,
    Depth,
    Round,
}

/// A loop over the items of a list or the keys of a map.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) over: Over,
    pub(crate) range: Box<Node>,
    /// The condition, or what `map` makes of an item.
    pub(crate) body: Box<Node>,
    /// What `map` leaves out items by.
    pub(crate) filter: Option<Box<Node>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

impl Over {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "all" => Self::All,
            "exists" => Self::Exists,
            "exists_one" | "existsOne" => Self::ExistsOne,
            "filter" => Self::Filter,
            "map" => Self::Map,
            _ => return None,
        })
    }
}
