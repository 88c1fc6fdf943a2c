//! Hooks that control the messages of a call.
