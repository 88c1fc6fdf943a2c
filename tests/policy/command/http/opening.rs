//! Requests that are refused when hooks are opened.

use hooks_agent_policy::command::{CommandEntry, CommandHooks};

use crate::agents::{assert_has, before_tools, dir};
use crate::http::server::builder;

/// Asserts that the entry has one problem, of this field, and that no text shows a secret.
#[track_caller]
fn assert_refused(entry: CommandEntry, field: &str, message: &str) {
    let error = builder([entry]).open().unwrap_err();
    let problems = error.problems();
    assert_eq!(problems.len(), 1, "{error}");
    assert_eq!(problems[0].field(), field, "{error}");
    assert_has(problems[0].message(), message);
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
}

fn at(url: &str) -> CommandEntry {
    CommandEntry::http("PreToolUse", url)
}

#[test]
fn a_host_that_is_not_allowed_is_refused_with_what_to_write() {
    let url = "https://guards.example.com:8443/check?key=SECRET";
    assert_refused(at(url), "url", "allow_hosts([\"guards.example.com:8443\"])");
    assert_refused(at("https://127.0.0.1.example.com/"), "url", "is no host that the program");
    assert_refused(at("https://example.com/127.0.0.1"), "url", "is no host that the program");
    let open = |host: &str, url: &str| {
        CommandHooks::builder(dir()).allow_hosts([host]).entry(at(url)).open().is_ok()
    };
    assert!(open("guards.example.com", url) && open("Guards.Example.com:8443", url));
    assert!(!open("guards.example.com:443", url) && !open("example.com", url));
    assert!(open("example.com:443", "https://example.com/") && !open("b\u{fc}cher.example", url));
    assert!(open("b\u{fc}cher.example", "https://xn--bcher-kva.example/"));
    assert!(open("[::1]:80", "http://[0:0::1]/") && !open("[::1]:81", "http://[::1]/"));
}

#[test]
fn a_host_that_is_none_is_refused() {
    for host in ["https://a.example", "*.example.com", "a.example/b", "me@a.example", "", "a:b"] {
        let error = CommandHooks::builder(dir()).allow_hosts([host]).open().unwrap_err();
        assert_eq!(error.problems()[0].field(), "allow_hosts", "{host}: {error}");
        assert_has(&error.to_string(), "expected a host such as");
    }
}

#[test]
fn a_url_that_is_none_or_has_a_password_is_refused() {
    for url in [
        "check",
        "https://",
        "https://me:SECRET@127.0.0.1/",
        "https://SECRET@127.0.0.1/",
        "https://127.0.0.1/SECRET@example.com",
    ] {
        assert_refused(at(url), "url", "expected a URL without a name and a password");
    }
    assert_refused(at("ftp://127.0.0.1/"), "url", "expected a URL of `https` or `http`");
}

#[test]
fn an_event_does_not_cross_a_network_without_encryption() {
    assert_refused(at("http://10.0.0.1/"), "url", "without encryption");
    assert!(builder([at("http://127.0.0.1/"), at("https://127.0.0.1/")]).open().is_ok());
}

#[test]
fn a_variable_that_is_not_passed_on_or_not_set_is_refused() {
    let with = |value: &str| at("http://127.0.0.1/").header("authorization", value);
    let of_env = with("Bearer $HOME");
    assert_refused(of_env, "headers", "expected `HOME` among the variables");
    let unset = with("${NO_SUCH_TOKEN}").pass_env("NO_SUCH_TOKEN");
    assert_refused(unset, "headers", "expected the variable `NO_SUCH_TOKEN` to be set");
    assert_refused(with("${TOKEN"), "headers", "expected `}` behind `${`");
    assert_refused(with("${A B}"), "headers", "expected the name of a variable");
}

#[test]
fn headers_that_cannot_be_sent_are_refused() {
    let with = |name: &str, value: &str| at("http://127.0.0.1/").header(name, value);
    assert_refused(with("a b", "SECRET"), "headers", "expected the name of a header");
    assert_refused(with("x-a", "SECRET\r\nx-b: c"), "headers", "visible characters on one line");
    let of_env = with("x-a", "$TOKEN").env("TOKEN", "SECRET\n");
    assert_refused(of_env, "headers", "visible characters on one line");
    for name in ["Host", "content-length", "transfer-encoding", "connection", "X-Hooks-Signature"] {
        assert_refused(with(name, "SECRET"), "headers", "which belongs to the request");
    }
}

#[test]
fn settings_without_a_meaning_are_refused() {
    let url = "http://127.0.0.1/";
    assert_refused(at(url).sign_with(""), "signing_key", "expected a key that is not empty");
    assert_refused(before_tools("true").header("x", "SECRET"), "headers", "expected none");
    assert_refused(before_tools("true").sign_with("SECRET"), "signing_key", "expected none");
}

#[test]
fn secrets_are_not_shown() {
    let entry = at("http://127.0.0.1/check?key=SECRET")
        .env("TOKEN", "SECRET")
        .header("authorization", "Bearer $TOKEN")
        .header("x-key", "SECRET")
        .sign_with("SECRET");
    let builder = builder([entry.clone()]);
    let shown = format!("{entry:?} {builder:?}");
    let shown = format!("{shown} {:?}", builder.open().unwrap());
    assert_has(&shown, "authorization");
    assert!(!shown.contains("SECRET"), "{shown}");
}
