use hooks_agent::on;

fn main() {
    on!(async move |event| {});
    on!(async move |event: &mut hooks_agent::event::PreCall<'_>, other: u8| {});
    on!(deny);
    on!(|event: &mut hooks_agent::event::PreCall<'_>| (), "name");
}
