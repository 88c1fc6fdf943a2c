//! A list of messages is one of its own, whatever other lists share with it.

use hooks_agent_core::message::{Messages, Msg};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

#[derive(Clone, Debug)]
enum Step {
    Push(u8),
    Insert(usize, u8),
    Remove(usize),
    Drain(usize),
    Cut(usize, usize),
    Truncate(usize),
    KeepEven,
    Change(usize),
    Extend(Vec<u8>),
    Clear,
    /// Goes on with a copy; the list before must stay.
    Fork,
    /// Takes the shared messages out and makes a list of them.
    Rebuild,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<u8>().prop_map(Step::Push),
        (any::<usize>(), any::<u8>()).prop_map(|(at, number)| Step::Insert(at, number)),
        any::<usize>().prop_map(Step::Remove),
        any::<usize>().prop_map(Step::Drain),
        (0..6_usize).prop_map(Step::Truncate),
        (0..400_usize).prop_map(Step::Truncate),
        (any::<usize>(), 0..200_usize).prop_map(|(from, count)| Step::Cut(from, count)),
        any::<usize>().prop_map(Step::Change),
        prop::collection::vec(any::<u8>(), 0..3).prop_map(Step::Extend),
        prop::sample::select(vec![Step::KeepEven, Step::Clear, Step::Fork, Step::Rebuild]),
    ]
}

fn msg(number: u8) -> Msg {
    Msg::user(number.to_string())
}

fn texts(list: &Messages) -> Vec<String> {
    list.iter().map(Msg::text).collect()
}

proptest! {
    #[test]
    fn a_list_does_what_a_vector_does_and_its_copies_stay(
        // Lists share parts of 128 messages.
        begin in prop_oneof![0..3_usize, 120..140_usize, 250..400_usize],
        steps in prop::collection::vec(step(), 0..40),
    ) {
        let mut vector: Vec<String> = (0..begin).map(|number| number.to_string()).collect();
        let mut list: Messages = vector.iter().map(|text| Msg::user(&**text)).collect();
        let mut before: Vec<(Messages, Vec<String>)> = Vec::new();
        for step in steps {
            let length = vector.len();
            match step {
                Step::Push(number) => {
                    list.push(msg(number));
                    vector.push(number.to_string());
                }
                Step::Insert(at, number) => {
                    list.insert(at % (length + 1), msg(number));
                    vector.insert(at % (length + 1), number.to_string());
                }
                Step::Remove(at) if length > 0 => {
                    prop_assert_eq!(list.remove(at % length).text(), vector.remove(at % length));
                }
                Step::Drain(from) => {
                    let drained = list.drain(from % (length + 1)..);
                    prop_assert_eq!(texts(&drained), vector.split_off(from % (length + 1)));
                }
                Step::Cut(from, count) => {
                    let from = from % (length + 1);
                    let range = from..(from + count).min(length);
                    let cut: Vec<_> = vector.drain(range.clone()).collect();
                    prop_assert_eq!(texts(&list.drain(range)), cut);
                }
                Step::Truncate(length) => {
                    list.truncate(length);
                    vector.truncate(length);
                }
                Step::KeepEven => {
                    list.retain(|msg| msg.text().len() % 2 == 0);
                    vector.retain(|text| text.len() % 2 == 0);
                }
                Step::Change(at) => {
                    if let Some(msg) = list.get_mut(at % (length + 1)) {
                        msg.push_text("!");
                        vector[at % (length + 1)].push('!');
                    }
                }
                Step::Extend(numbers) => {
                    vector.extend(numbers.iter().map(u8::to_string));
                    list.extend(numbers.into_iter().map(msg));
                }
                Step::Clear => {
                    list.clear();
                    vector.clear();
                }
                Step::Fork => before.push((list.clone(), vector.clone())),
                Step::Rebuild => list = list.into_iter().collect(),
                Step::Remove(_) => {}
            }
            prop_assert_eq!((list.len(), list.is_empty()), (vector.len(), vector.is_empty()));
        }
        before.push((list, vector));
        for (list, vector) in before {
            prop_assert_eq!(&texts(&list), &vector);
            let backwards: Vec<_> = list.iter().rev().map(Msg::text).collect();
            prop_assert!(backwards.iter().rev().eq(&vector));
            for at in 0..vector.len() + 300 {
                let text = list.get(at).map(Msg::text);
                prop_assert_eq!(text.as_ref(), vector.get(at));
                prop_assert_eq!(list.shared().nth(at).map(|msg| msg.text()), text);
            }
            let json = serde_json::to_string(&list).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Messages>(&json).unwrap(), &list);
        }
    }
}
