//! Return types of the functions of tools.

use hooks_core::BoxError;
use serde::Serialize;
use serde_json::Value;

use crate::message::ToolOutput;

/// An output of any type that is `Serialize`: the model reads its JSON, programs read it as
/// [`ToolOutput::structured`]. A value that is not JSON is the error of the tool.
///
/// ```
/// use hooks_agent::tool::{IntoToolOutput, Json};
/// use serde::Serialize;
///
/// #[derive(Serialize)]
/// struct Weather {
///     celsius: i8,
/// }
///
/// let output = Json(Weather { celsius: 21 }).into_tool_output().unwrap();
/// assert_eq!(output, r#"{"celsius":21}"#);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// The return types of the function of a [`FunctionTool`](crate::tool::FunctionTool): text, JSON, a
/// [`ToolOutput`], or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a tool returns",
    note = "return a `String`, a `&str`, a `serde_json::Value`, a `Json` of a type that is `Serialize`, a \
            `ToolOutput`, or a `Result` of these whose error is a `std::error::Error`"
)]
pub trait IntoToolOutput {
    /// Converts the value into the output of a tool.
    ///
    /// # Errors
    /// The error of the tool.
    fn into_tool_output(self) -> Result<ToolOutput, BoxError>;
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, BoxError> {
        Ok(self.into())
    }
}

impl IntoToolOutput for &str {
    fn into_tool_output(self) -> Result<ToolOutput, BoxError> {
        Ok(self.into())
    }
}

impl IntoToolOutput for Value {
    fn into_tool_output(self) -> Result<ToolOutput, BoxError> {
        Ok(ToolOutput::json(self))
    }
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, BoxError> {
        Ok(self)
    }
}

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, BoxError> {
        Ok(ToolOutput::json(serde_json::to_value(self.0)?))
    }
}

impl<T: IntoToolOutput, E: Into<BoxError>> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> Result<ToolOutput, BoxError> {
        self.map_err(Into::into)?.into_tool_output()
    }
}
