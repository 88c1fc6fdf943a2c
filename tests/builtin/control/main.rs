//! Built-in hooks that control the messages of a call.

mod messages_hook;
