//! Why a tool call needs a person.

use std::fmt;

use crate::provenance::reading::address::Form;

/// Why an argument of a tool call, or the call, needs a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// The path of the argument, and what of it is shown; empty if it is about the whole call.
    pub(crate) argument: String,
    pub(crate) value: String,
    pub(crate) why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It stands in a text that others wrote.
    InText { read: String },
    /// The user named where it stands, but there are several of its form.
    OneOfMany { read: String, count: usize, form: Form },
    /// It is a value of a record that the user's words do not choose.
    Unchosen { read: String },
    /// It is a secret that others wrote.
    Secret { read: String },
    /// It stands nowhere.
    Nowhere,
    /// It stands at too many places.
    Everywhere,
    /// More was read than is looked through.
    Unread,
    /// A content has an address that stands in a text that others wrote.
    LinkInText { read: String },
    /// A content has an address that stands nowhere.
    LinkNowhere,
    /// A text of others asks for a call with this content, or to this address of the user.
    AskedFor { read: String, is_said: bool },
    /// The user left open where such a call goes, and a text of others asks for one.
    LeftOpen { read: String },
    /// The user spoke of no such call, and a text of others does.
    Unasked { read: String },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { argument, value, why } = self;
        match why {
            Why::InText { read } => write!(
                f,
                "`{argument}` is `{value}`, which stands in the text of {read}, and which the user did not name"
            ),
            Why::OneOfMany { read, count, form } => write!(
                f,
                "`{argument}` is `{value}`, which is one of {count} {} in {read}",
                form.name()
            ),
            Why::Unchosen { read } => write!(
                f,
                "`{argument}` is `{value}`, which stands in {read}, and which nothing that the user said chooses"
            ),
            Why::Secret { read } => {
                write!(f, "`{argument}` stands in {read}, and a secret comes from the user alone")
            }
            Why::Nowhere => write!(
                f,
                "`{argument}` is `{value}`, which stands in nothing that was said or read"
            ),
            Why::Everywhere => {
                write!(f, "`{argument}` is `{value}`, which stands at too many places to be traced")
            }
            Why::Unread => {
                write!(f, "`{argument}` is `{value}`, which cannot be traced: too much was read")
            }
            Why::LinkInText { read } => write!(
                f,
                "`{argument}` has the address `{value}`, which stands in the text of {read}, and which the user did \
                 not name"
            ),
            Why::LinkNowhere => write!(
                f,
                "`{argument}` has the address `{value}`, which stands in nothing that was said or read"
            ),
            Why::AskedFor { read, is_said: true } => {
                write!(
                    f,
                    "`{argument}` is `{value}`, with which the text of {read} asks for it too"
                )
            }
            Why::AskedFor { read, is_said: false } => write!(
                f,
                "`{argument}` is `{value}`, with which the text of {read} asks for it, and which the user did not say"
            ),
            Why::LeftOpen { read } => {
                write!(f, "the user did not say which one, and the text of {read} asks for it too")
            }
            Why::Unasked { read } => {
                write!(f, "the user spoke of no such thing, and the text of {read} does")
            }
        }
    }
}
