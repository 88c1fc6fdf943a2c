//! Built-in hooks that control the messages of a call.
