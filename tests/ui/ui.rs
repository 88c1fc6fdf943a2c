//! Misuse and what the compiler says of it: one folder per kind of mistake.

#[test]
fn mistakes_are_shown_where_they_are_with_what_to_write_instead() {
    let cases = trybuild::TestCases::new();
    for kind in ["unknown", "duplicate", "conflict", "malformed", "unsupported", "missing"] {
        cases.compile_fail(format!("{kind}/*.rs"));
    }
}
