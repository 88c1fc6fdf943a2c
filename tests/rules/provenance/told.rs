//! Whoever asks, people read where each argument came from.

use futures::executor::block_on;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_rules::Provenance;
use serde_json::{Value, json};

use crate::{call, guard};

const IBAN: &str = "DE02120300000000202051";

/// Returns the notes of a payment that another hook asks about.
fn told(guard: Provenance, user: &str, file: &str, payment: Value) -> Vec<String> {
    let script = Script::new()
        .calls([call("1", "read_file", json!({ "path": "bill.txt" }))])
        .calls([call("2", "contacts", json!({ "name": "Ann" }))])
        .calls([call("3", "pay", payment)]);
    let read = Calls::new("read_file").answers(file);
    let contacts =
        Calls::new("contacts").answers("Ann has the account FR7630006000011234567890189");
    let ask = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "pay" => event.ask("money leaves"),
        _ => Flow::Continue,
    });
    let builder = ReActAgent::builder("bot").model(script).system_prompt("The rent is 800 euros.");
    let builder = builder.tool(read).tool(contacts).tool(Calls::new("pay"));
    let agent = builder.hook(guard).hook(ask).build().unwrap();
    let reply = block_on(agent.call(user)).unwrap();
    reply.pending()[0].notes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_question_of_another_hook_says_where_each_argument_came_from() {
    let file = format!("IBAN: {IBAN}");
    let payment = json!({ "to": IBAN, "euros": 800, "note": "May" });
    assert_eq!(
        told(guard(), "Pay the bill in bill.txt", &file, payment.clone()),
        [
            "`to` stands in `read_file` (`bill.txt`), a source that the user named and that others may have written",
            "`euros` stands in the instructions",
            "`note` stands in nothing that was said or read",
        ]
    );
    let notes = told(guard(), "Pay my landlord for May", &file, payment);
    assert_eq!(notes[0], "`to` stands in `read_file` (`bill.txt`), which others may have written");
    assert_eq!(notes[2], "`note` stands in what the user said");
}

#[test]
fn a_trusted_source_and_what_it_repeats_are_told_apart() {
    let payment = json!({ "to": "FR76 3000 6000 0112 3456 7890 189", "note": ["Ann", "bill.txt"] });
    let notes = told(guard(), "Pay what is open", "nothing", payment);
    assert_eq!(notes[0], "`to` stands in `contacts` (`Ann`)");
    assert_eq!(notes[1], "`note[0]` stands in nothing that was said or read");
    assert_eq!(notes[2], "`note[1]` stands in nothing that was said or read");
}

#[test]
fn a_guard_that_refuses_and_one_that_knows_the_tool_as_a_reader_tell_it_too() {
    let payment = json!({ "to": IBAN, "euros": 800 });
    let knows_no_sink = Provenance::new().trusted(["*"]).unwrap();
    for guard in [guard().refuse(), knows_no_sink] {
        let notes = told(guard, &format!("Pay 800 euros to {IBAN}"), "", payment.clone());
        assert_eq!(notes[0], "`to` stands in what the user said");
        assert_eq!(notes[1], "`euros` stands in what the user said; in the instructions");
    }
}

#[test]
fn what_was_not_traced_is_said() {
    let many: Vec<_> = (0..40).map(|it| format!("a note of number {it}")).collect();
    let payment = json!({ "to": IBAN, "note": many });
    let notes = told(guard(), &format!("Pay to {IBAN}"), "", payment.clone());
    assert_eq!(notes.len(), 33);
    assert_eq!(notes[32], "The call has 9 more arguments, which were not traced");
    let notes = told(guard().max_read(10), &format!("Pay to {IBAN}"), "", payment);
    assert_eq!(notes[0], "`to` cannot be traced: too much was read");
}

#[test]
fn that_others_may_have_written_it_is_never_cut() {
    let mut script = Script::new().calls([call("0", "read_file", json!({ "path": "bill.txt" }))]);
    let mut contacts = Calls::new("contacts");
    for name in ["Ann", "Bob", "Eve"] {
        script = script.calls([call(name, "contacts", json!({ "name": name }))]);
        contacts = contacts.answers(format!("{name} has {IBAN}"));
    }
    let script = script.calls([call("9", "pay", json!({ "to": IBAN }))]);
    let ask = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "pay" => event.ask("money leaves"),
        _ => Flow::Continue,
    });
    let read = Calls::new("read_file").answers(format!("Pay to {IBAN}"));
    let builder = ReActAgent::builder("bot").model(script).tool(read).tool(contacts);
    let agent = builder.tool(Calls::new("pay")).hook(guard()).hook(ask).build().unwrap();
    let reply = block_on(agent.call("Pay what is open")).unwrap();
    assert_eq!(
        reply.pending()[0].notes[0].to_string(),
        "`to` stands in `read_file` (`bill.txt`), which others may have written; in `contacts` (`Ann`); in `contacts` \
         (`Bob`); in 1 more"
    );
}
