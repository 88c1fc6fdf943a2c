//! The columns of a row.

use sqlx::{ColumnIndex, Decode, Error, Row, Type};

/// The columns of a row of either database, by position.
pub(crate) trait Columns {
    fn int(&self, index: usize) -> Result<i64, Error>;
    fn int_or_null(&self, index: usize) -> Result<Option<i64>, Error>;
    fn text(&self, index: usize) -> Result<String, Error>;
    fn text_or_null(&self, index: usize) -> Result<Option<String>, Error>;
}

impl<R: Row> Columns for R
where
    usize: ColumnIndex<R>,
    i64: for<'r> Decode<'r, R::Database> + Type<R::Database>,
    String: for<'r> Decode<'r, R::Database> + Type<R::Database>,
{
    fn int(&self, index: usize) -> Result<i64, Error> {
        self.try_get(index)
    }

    fn int_or_null(&self, index: usize) -> Result<Option<i64>, Error> {
        self.try_get(index)
    }

    fn text(&self, index: usize) -> Result<String, Error> {
        self.try_get(index)
    }

    fn text_or_null(&self, index: usize) -> Result<Option<String>, Error> {
        self.try_get(index)
    }
}
