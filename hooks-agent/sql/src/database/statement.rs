//! Statements with their parameters.

use std::borrow::Cow;

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// A statement with its parameters, `$1` and on.
///
/// ```
/// use hooks_agent_sql::database::{List, Statement};
///
/// let forget = Statement::new("DELETE FROM note WHERE author = $1 AND id = ANY($2)")
///     .bind("ada")
///     .bind(List::ints([1, 2]));
/// assert_eq!(forget.sql(), "DELETE FROM note WHERE author = $1 AND id = ANY($2)");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Statement<'a> {
    sql: Cow<'static, str>,
    params: Vec<Param<'a>>,
    is_prepared: bool,
}

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Param<'a> {
    /// A number.
    Int(Option<i64>),
    /// A text.
    Text(Option<Cow<'a, str>>),
    /// Bytes.
    Bytes(Option<Cow<'a, [u8]>>),
    /// A list: an array in PostgreSQL, a JSON array in SQLite; there, one of nothing is NULL.
    List(List<'a>),
    /// The columns of a table, each as long as the others: an array for each in PostgreSQL, one JSON
    /// array of arrays in SQLite; there, one of nothing is NULL.
    Table(Vec<List<'a>>),
}

/// A list of values of one type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum List<'a> {
    /// Numbers.
    Ints(Vec<Option<i64>>),
    /// Texts.
    Texts(Vec<Cow<'a, str>>),
}

impl<'a> Statement<'a> {
    /// Returns a statement without parameters.
    pub fn new(sql: &'static str) -> Self {
        Self::of(Cow::Borrowed(sql))
    }

    /// Returns a statement that the program wrote. Whatever a user or a model says is a parameter, and no
    /// part of the text.
    pub fn written(sql: String) -> Self {
        Self::of(Cow::Owned(sql))
    }

    fn of(sql: Cow<'static, str>) -> Self {
        Self { sql, params: Vec::new(), is_prepared: true }
    }

    /// Runs the statement without a name, as poolers need it that give each transaction another session.
    pub fn unnamed(mut self) -> Self {
        self.is_prepared = false;
        self
    }

    /// Adds the next parameter.
    pub fn bind(mut self, param: impl Into<Param<'a>>) -> Self {
        self.params.push(param.into());
        self
    }

    /// Adds text.
    pub fn push(&mut self, sql: &str) {
        self.sql.to_mut().push_str(sql);
    }

    /// Adds text that ends in a parameter.
    pub fn push_param(&mut self, before: &str, param: impl Into<Param<'a>>) {
        self.params.push(param.into());
        let number = self.params.len().to_string();
        self.sql.to_mut().extend([before, "$", &number]);
    }

    /// Returns the text.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns the text, the parameters, and whether a connection keeps the statement.
    pub(crate) fn into_parts(self) -> (SqlStr, Vec<Param<'a>>, bool) {
        let sql = match self.sql {
            Cow::Borrowed(sql) => sql.into_sql_str(),
            Cow::Owned(sql) => AssertSqlSafe(sql).into_sql_str(),
        };
        (sql, self.params, self.is_prepared)
    }
}

impl<'a> List<'a> {
    /// Returns a list of numbers.
    pub fn ints(ints: impl IntoIterator<Item = i64>) -> Self {
        Self::Ints(ints.into_iter().map(Some).collect())
    }

    /// Returns a list of texts.
    pub fn texts(texts: impl IntoIterator<Item = impl Into<Cow<'a, str>>>) -> Self {
        Self::Texts(texts.into_iter().map(Into::into).collect())
    }
}

impl From<i64> for Param<'_> {
    fn from(int: i64) -> Self {
        Self::Int(Some(int))
    }
}

impl From<bool> for Param<'_> {
    fn from(flag: bool) -> Self {
        Self::Int(Some(flag.into()))
    }
}

impl From<Option<i64>> for Param<'_> {
    fn from(int: Option<i64>) -> Self {
        Self::Int(int)
    }
}

impl From<String> for Param<'_> {
    fn from(text: String) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl From<Option<String>> for Param<'_> {
    fn from(text: Option<String>) -> Self {
        Self::Text(text.map(Into::into))
    }
}

impl<'a> From<Option<&'a str>> for Param<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text.map(Into::into))
    }
}

impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(Some(bytes.into()))
    }
}

impl<'a> From<Option<&'a [u8]>> for Param<'a> {
    fn from(bytes: Option<&'a [u8]>) -> Self {
        Self::Bytes(bytes.map(Into::into))
    }
}

impl<'a> From<List<'a>> for Param<'a> {
    fn from(list: List<'a>) -> Self {
        Self::List(list)
    }
}

impl<'a> From<Vec<List<'a>>> for Param<'a> {
    fn from(table: Vec<List<'a>>) -> Self {
        Self::Table(table)
    }
}
