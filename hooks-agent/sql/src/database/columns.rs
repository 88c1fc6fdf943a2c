//! The columns of a row.

use sqlx::{ColumnIndex, Decode, Row, Type};

use crate::database::error::DatabaseError;

/// The columns of a row of either database, by position.
pub trait Columns: Send + Sync {
    /// Returns the number in a column.
    ///
    /// # Errors
    /// [`DatabaseError`] if there is no such column, or it has something else; so of the others.
    fn int(&self, index: usize) -> Result<i64, DatabaseError>;

    /// Returns the number in a column, if there is one.
    ///
    /// # Errors
    /// Those of [`int`](Self::int).
    fn int_or_null(&self, index: usize) -> Result<Option<i64>, DatabaseError>;

    /// Returns the text in a column.
    ///
    /// # Errors
    /// Those of [`int`](Self::int).
    fn text(&self, index: usize) -> Result<String, DatabaseError>;

    /// Returns the text in a column, if there is one.
    ///
    /// # Errors
    /// Those of [`int`](Self::int).
    fn text_or_null(&self, index: usize) -> Result<Option<String>, DatabaseError>;
}

impl<R: Row + Sync> Columns for R
where
    usize: ColumnIndex<R>,
    i64: for<'r> Decode<'r, R::Database> + Type<R::Database>,
    String: for<'r> Decode<'r, R::Database> + Type<R::Database>,
{
    fn int(&self, index: usize) -> Result<i64, DatabaseError> {
        Ok(self.try_get(index)?)
    }

    fn int_or_null(&self, index: usize) -> Result<Option<i64>, DatabaseError> {
        Ok(self.try_get(index)?)
    }

    fn text(&self, index: usize) -> Result<String, DatabaseError> {
        Ok(self.try_get(index)?)
    }

    fn text_or_null(&self, index: usize) -> Result<Option<String>, DatabaseError> {
        Ok(self.try_get(index)?)
    }
}
