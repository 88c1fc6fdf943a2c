//! The types that a check sees.

use std::fmt;

use serde_json::Value as Json;

/// The type of an expression, as far as it can be seen without a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    List,
    Map,
    Time,
    Span,
}

impl Type {
    pub(crate) fn of_json(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Bool,
            Json::Number(number) if number.is_i64() => Self::Int,
            Json::Number(number) if number.is_u64() => Self::Uint,
            Json::Number(_) => Self::Double,
            Json::String(_) => Self::Text,
            Json::Array(_) => Self::List,
            Json::Object(_) => Self::Map,
        }
    }

    /// Returns whether a value of this type may be one of the other.
    pub(crate) fn may_be(self, other: Self) -> bool {
        self == Self::Any || other == Self::Any || self == other
    }

    pub(crate) fn may_be_one_of(self, types: &[Self]) -> bool {
        types.iter().any(|it| self.may_be(*it))
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }

    /// Returns whether values of the two types may be equal.
    pub(crate) fn may_equal(self, other: Self) -> bool {
        // What may be missing is compared with `null`.
        let is_null = self == Self::Null || other == Self::Null;
        self.may_be(other) || is_null || self.is_number() && other.is_number()
    }

    /// Returns whether values of the two types may have an order.
    pub(crate) fn may_compare(self, other: Self) -> bool {
        const ORDERED: [Type; 7] =
            [Type::Bool, Type::Int, Type::Uint, Type::Double, Type::Text, Type::Time, Type::Span];
        let have_order = self.may_be_one_of(&ORDERED) && other.may_be_one_of(&ORDERED);
        have_order && (self.may_be(other) || self.is_number() && other.is_number())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any value",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Text => "string",
            Self::List => "list",
            Self::Map => "map",
            Self::Time => "timestamp",
            Self::Span => "duration",
        })
    }
}
