//! The names of types as messages show them.

/// The name of a type without its path and its generic arguments.
pub(crate) fn short_name(type_name: &str) -> &str {
    split_type_name(type_name).1
}

// Input:  `my_crate::agents::Assistant<alloc::string::String>`
// Output: `my_crate::agents` and `Assistant`
pub(crate) fn split_type_name(type_name: &str) -> (&str, &str) {
    let plain = type_name.split('<').next().unwrap_or(type_name);
    plain.rsplit_once("::").unwrap_or(("", plain))
}

/// The crate of a path.
pub(crate) fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}
